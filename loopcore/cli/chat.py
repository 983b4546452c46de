"""Talking on: one prompt after the other, and a few commands."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from loopcore import Rejected, Usage
from loopcore.cli.mistakes import Mistake
from loopcore.cli.person import Ask
from loopcore.cli.saving import reserve, save
from loopcore.cli.session import Session
from loopcore.cli.summary import usage_line

COMMAND: Final = re.compile(r"/([a-z]+)(?:\s+(.*))?")
"""A path, as in "/etc/hosts, what is it?", is no command."""


ABOUT: Final = {
    "help": "list the commands",
    "model": "show the model; with a name, ask another one",
    "save": "save the conversation, in a file if you name one",
    "usage": "count the tokens so far",
    "quit": "end the conversation",
}
KEYS: Final = {"Ctrl-C": "stop a reply", "Ctrl-D": "end the conversation"}


class Chat:
    """A person talks to an app, until there is nothing more to say.

    `file` is where the conversation is kept: one file, until another one is named.
    """

    def __init__(self, session: Session, ask: Ask) -> None:
        self.session, self._ask = session, ask
        options = session.options
        self.file = options.save or options.resume or options.journal or session.file
        self._own = {options.save, options.resume}
        self._usage: dict[int, Usage] = {}
        self._over = False
        self._commands: dict[str, Callable[[str], None]] = {
            "help": self._help,
            "model": self._model,
            "save": self._save,
            "usage": self._show_usage,
            "quit": self._quit,
        }

    def talk(self) -> None:
        """Ask what waits, then take one line after the other: a prompt or a command."""
        self._try(lambda: self._prompt(""))
        while not self._over:
            self._try(lambda: self._take(self._ask("> ").strip()))

    def _try(self, action: Callable[[], None]) -> None:
        say = self.session.show.say
        try:
            action()
        except EOFError:
            self._over = True
        except KeyboardInterrupt:
            say("Ctrl-D or /quit ends the conversation.")
        except (Mistake, Rejected, ValueError) as problem:
            say(str(problem))

    @property
    def talked(self) -> bool:
        """Whether anything was said."""
        return bool(self._usage)

    def _take(self, line: str) -> None:
        command = COMMAND.fullmatch(line)
        if command is None:
            self._prompt(line)
            return
        name, words = command[1], (command[2] or "").strip()
        if name in ABOUT:
            self._commands[name](words)
            return
        near = get_close_matches(name, ABOUT, 1)
        hint = f"Did you mean /{near[0]}?" if near else "/help lists them."
        self.session.show.say(f"There is no command /{name}. {hint}")

    def _prompt(self, text: str) -> None:
        if self.session.state.waiting:
            self.session.go_on()  # asks again what was put off
            self._reply_ended()
        if text and not self.session.state.waiting:
            self.session.say(text)
            self._reply_ended()

    def _reply_ended(self) -> None:
        ending = self.session.conversation.ending
        self._usage[self.session.state.run] = ending.result.usage
        self.session.show.end(ending)

    def _help(self, _: str) -> None:
        commands = {f"/{name}": about for name, about in ABOUT.items()}
        for name, about in {**commands, **KEYS}.items():
            self.session.show.say(f"{name:<9}{about}")

    def _quit(self, _: str) -> None:
        self._over = True

    def _model(self, name: str) -> None:
        if name:
            self.session.use(name)
        self.session.show.say(self.session.model)

    def _save(self, name: str) -> None:
        file = Path(name) if name else self.file
        if file == self.session.options.journal:
            self.session.show.say(f"recorded in {file}")
            return
        if file not in self._own:
            reserve(file, "/save")
        save(self.session.state, file)
        self._own.add(file)
        self.file = file
        self.session.show.say(f"saved to {file}")

    def _show_usage(self, _: str) -> None:
        total = sum(self._usage.values(), Usage())
        self.session.show.say(usage_line(total))
