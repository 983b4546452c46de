"""Arithmetic as a tool: only numbers, and never more work than a line is worth."""

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Number: TypeAlias = int | float

LENGTH: Final = 1_000
"""How many characters an expression may have."""

BITS: Final = 10_000
"""How big a whole number may grow: Python prints this many bits, and no more work
than a multiplication of such numbers is ever done."""

WORD: Final = re.compile(r"[^\W\d]+")


class NoNumber(Exception):
    """Why an expression has no value, in a sentence."""


def value_of(expression: str) -> Number:
    """What an arithmetic expression comes to.

    Raises:
        NoNumber: for whatever is not arithmetic, or too much of it.

    >>> value_of("2 * (3 + 4) ** 2")
    98
    >>> value_of("sqrt(2) > 1")
    Traceback (most recent call last):
    loopcore.cli.arithmetic.NoNumber: 'sqrt(2) > 1' is not arithmetic. ...
    """
    text = expression.strip().lower()
    if len(text) > LENGTH:
        raise NoNumber(TOO_LONG)
    _refuse_words(text)
    try:
        return _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        message = f"{expression!r} is not arithmetic. {KNOWN}"
        raise NoNumber(message) from None
    except ZeroDivisionError:
        message = "This divides by zero."
        raise NoNumber(message) from None
    except OverflowError:
        raise NoNumber(TOO_BIG) from None


def _refuse_words(text: str) -> None:
    for word in WORD.findall(text):
        if word not in FUNCTIONS and word not in CONSTANTS:
            message = f"There is no {word!r} in arithmetic. {KNOWN}"
            raise NoNumber(message)


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value):
            return _bounded(value)
        case ast.Name(id=name):
            return CONSTANTS[name] if name in CONSTANTS else _not_arithmetic()
        case ast.UnaryOp(op=op, operand=operand):
            work = SIGNS.get(type(op), _not_arithmetic)
            return _bounded(work(_value(operand)))
        case ast.BinOp(left=left, op=op, right=right):
            work = OPERATORS.get(type(op), _not_arithmetic)
            return _bounded(work(_value(left), _value(right)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            work = FUNCTIONS.get(name, _not_arithmetic)
            return _bounded(work(*map(_value, args)))
        case _:
            return _not_arithmetic()


def _not_arithmetic(*_: Number) -> Number:
    raise ValueError


def _bounded(value: object) -> Number:
    match value:
        case int() if value.bit_length() <= BITS:
            return value
        case float() if math.isfinite(value):
            return value
        case int() | float():
            raise OverflowError
        case _:  # a root of a negative number is complex
            return _not_arithmetic()


def _power(base: Number, exponent: Number) -> Number:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and int(base).bit_length() * exponent > BITS:
        raise OverflowError
    result: Number = base**exponent
    return result


def _round(value: Number, digits: Number = 0) -> Number:
    if not isinstance(digits, int) or abs(digits) > PLACES:
        return _not_arithmetic()
    return round(value, digits) if digits else round(value)


PLACES: Final = 400
"""Past which no float has digits; whole numbers would take ever longer to round."""

OPERATORS: Final[dict[type[ast.operator], Callable[..., Number]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
SIGNS: Final[dict[type[ast.unaryop], Callable[..., Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "max": max,
    "min": min,
    "round": _round,
    "sqrt": math.sqrt,
}
CONSTANTS: Final = {"e": math.e, "pi": math.pi}

KNOWN: Final = (
    "It takes numbers, + - * / // % ** (powers), brackets, "
    f"{', '.join((*CONSTANTS, *FUNCTIONS))}."
)
TOO_LONG: Final = f"An expression may have {LENGTH} characters; do it in parts."
TOO_BIG: Final = f"A number here grows past {BITS} bits, or past what a float can hold."
