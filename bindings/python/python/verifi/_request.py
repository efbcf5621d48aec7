"""What a call is made of. Whatever is wrong with it becomes part of the request, and so of the call's result."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONEncoder
from typing import Any, TypeAlias

from ._types import Progress

Arguments: TypeAlias = "str | tuple[str]"
"""JSON text, or a reason why there is none."""

Request: TypeAlias = "tuple[str, Arguments, float | None, Callable[[Progress], object] | None]"

# As json.dumps, except that NaN and the infinities, which JSON lacks, are refused.
_encode = JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_ascii = JSONEncoder(allow_nan=False).encode


def request(
    tool: object, arguments: object, timeout: object, on_progress: Callable[[Progress], object] | None
) -> Request:
    """Never fails."""
    text = _json(arguments)
    if not isinstance(tool, str):
        return f"<{type(tool).__name__}>", ("the name of a tool is a str",), None, None
    if not tool.isascii():
        name = tool.encode("utf-8", "replace").decode()
        if name != tool:
            return name, ("the name of the tool is not Unicode",), None, None
    seconds = None
    if timeout is not None:
        try:
            seconds = check_timeout(timeout)
        except (TypeError, ValueError) as error:
            return tool, (str(error),), None, None
    if on_progress is not None and not callable(on_progress):
        return tool, ("on_progress: must be callable",), None, None
    return tool, text, seconds, on_progress


def check_timeout(timeout: Any) -> float:
    """The timeout in seconds.

    Raises:
        TypeError: It is not a number.
        ValueError: It is negative, or NaN.
    """
    if isinstance(timeout, bool) or not hasattr(timeout, "__float__"):
        raise TypeError("timeout: must be a number of seconds")
    seconds = float(timeout)
    if not seconds >= 0:
        raise ValueError("timeout: must not be negative")
    return seconds


def _json(arguments: object) -> Arguments:
    if arguments is None:
        return "{}"
    try:
        text = _encode(arguments)
        if not text.isascii():
            text.encode()
        return text
    except UnicodeEncodeError:
        # Half of a surrogate pair: JSON can say it, UTF-8 can't.
        return _encode_ascii(arguments)
    except Exception as error:
        return (f"the arguments are not JSON: {type(error).__name__}: {error}",)
