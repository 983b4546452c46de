"""What a rule is made with: refused in a sentence where it makes no sense."""

from collections.abc import Mapping


def refuse_unless_whole(rule: str, least: int, **given: object) -> None:
    """Refuse what is no whole number, or a smaller one; None was not given.

    Raises:
        TypeError: for what is no whole number.
        ValueError: for a smaller one.
    """
    for name, value in given.items():
        if value is None:
            continue
        message = f"{rule}({name}={value!r}): give a whole number, {least} or more"
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(message)
        if value < least:
            raise ValueError(message)


def refuse_negative(rule: str, given: Mapping[str, object]) -> None:
    """Refuse what is no number, or below 0; None was not given.

    Raises:
        TypeError: for what is no number.
        ValueError: for a negative one, or none at all, as NaN.
    """
    for name, value in given.items():
        if value is None:
            continue
        message = f"{rule}({name}={value!r}): give a number, 0 or more"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(message)
        if not value >= 0:
            raise ValueError(message)


def refuse_no_function(rule: str, **given: object) -> None:
    """Refuse what cannot be called.

    Raises:
        TypeError: for what is no function.
    """
    for name, value in given.items():
        if not callable(value):
            message = f"{rule}({name}={value!r}): give a function"
            raise TypeError(message)


def refuse_no_text(rule: str, **given: object) -> None:
    """Refuse what is no text.

    Raises:
        TypeError: for what is no text.
    """
    for name, value in given.items():
        if not isinstance(value, str):
            message = f"{rule}({name}={value!r}): give a text"
            raise TypeError(message)
