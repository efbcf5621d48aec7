"""Redaction without a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import _verifi


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with every occurrence of every secret replaced by `[REDACTED]`.

    Secrets are looked for as they stand. Those shorter than 4 characters are skipped. It takes time linear in the text.
    The other threads go on meanwhile.

    Raises:
        UnicodeEncodeError: Text or secrets have half of a surrogate pair in them.
    """
    return _verifi.redact(text, _list(secrets))


def collect_run_secrets(env: Mapping[str, str] | None = None) -> list[str]:
    """The values of an environment that are secrets, in the order of their variables' names, each once.

    The value of a variable whose name looks like a secret's is one (`MY_API_KEY`, `DB_PASSWORD`; not `API_KEY_FILE`),
    and so is the password in a URL, whatever the variable's name. What is shorter than 4 characters or a placeholder
    (`none`, `disabled`, `changeme` ...) is not. Bytes that are not UTF-8 become U+FFFD, as they do in a tool's output.

    Args:
        env: This process's environment unless given.
    """
    return _verifi.collect_run_secrets(None if env is None else dict(env))


class Redactor:
    """Replaces secrets in any number of texts, in every form that a run looks for.

    That is as they stand, JSON-escaped, percent-encoded, and, when they are 8 bytes or longer, in base64 and base64url;
    a secret of several lines line by line as well. It never changes, and threads may share it.

    Raises:
        UnicodeEncodeError: A secret has half of a surrogate pair in it.
    """

    __slots__ = ("_native",)

    def __init__(self, secrets: Iterable[str]) -> None:
        self._native = _verifi.Redactor(_list(secrets))

    def redact(self, text: str) -> str:
        """The text without the secrets, in time linear in the text."""
        return self._native.redact(text)

    def __repr__(self) -> str:
        return "Redactor()"


def _list(secrets: Iterable[str]) -> list[str]:
    if isinstance(secrets, str):
        # Taken letter by letter it would hide nothing.
        raise TypeError("secrets: must be a list of strings, not one")
    return list(secrets)
