"""The options of a run, under the names that they have here."""

from __future__ import annotations

from json import dumps
from math import isfinite
from typing import Any

from ._errors import OptionsError

SECONDS = ("timeout", "retry_primary_after")


def options_json(*, secrets: Any, **options: Any) -> str:
    """The options as the core takes them, which checks all that this does not.

    Raises:
        OptionsError: An option can't be put that way.
    """
    values = {name: value for name, value in options.items() if value is not None}
    for name in SECONDS:
        if name in values:
            values[name] = _milliseconds(name, values[name])
    if isinstance(secrets, (str, bytes)):
        # Taken letter by letter it would hide nothing.
        raise OptionsError("secrets: must be a list of strings, not one")
    try:
        return dumps({_core_name(name): value for name, value in values.items()} | {"secrets": list(secrets)})
    except (TypeError, ValueError) as error:
        raise OptionsError(f"the options are not JSON: {type(error).__name__}: {error}") from None


def _milliseconds(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise OptionsError(f"{name}: must be a number of seconds")
    seconds = float(value)
    if not (isfinite(seconds) and seconds > 0):
        raise OptionsError(f"{name}: must be more than zero, and finite")
    return max(1, round(seconds * 1000))


def _core_name(name: str) -> str:
    """As in every language's JSON: `max_response_bytes` is `maxResponseBytes`, and times say that they are in ms."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest)) + ("Ms" if name in SECONDS else "")


def in_own_words(message: str) -> str:
    """The core's message, which begins with the name of the option, with the name that it has here."""
    core, colon, rest = message.partition(":")
    own = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in core)
    return f"{own.removesuffix('_ms')}{colon}{rest}"
