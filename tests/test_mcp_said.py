"""What a server writes to its error output is kept as far as it tells why it ended."""

from loopcore_adapters.tool_servers.said import ENOUGH, Said


def test_the_last_of_it_is_kept() -> None:
    said = Said()
    said.file.write("a" * 5000 + " enough\n")
    said.file.flush()

    last = said.last()

    said.close()
    assert 1999 == len(last)
    assert last.endswith("a enough")


def test_what_is_no_text_is_no_fault() -> None:
    said = Said()
    said.file.buffer.write(b"caf\xe9")
    said.file.flush()

    last = said.last()

    said.close()
    assert "caf\ufffd" == last


def test_there_is_never_much_of_it() -> None:
    said = Said()
    said.file.write("a" * (ENOUGH + 1))
    said.file.flush()

    said.trim()
    said.file.write("after")
    said.file.flush()
    last = said.last()

    said.close()
    assert "after" == last


def test_a_word_is_kept_alone() -> None:
    said = Said()

    said.note("one")
    said.note("two")

    assert "two" == said.last()
    said.close()


def test_what_is_little_is_left() -> None:
    said = Said()
    said.file.write("little")
    said.file.flush()

    said.trim()

    assert "little" == said.last()
    said.close()
