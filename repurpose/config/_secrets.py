"""Keeps secrets out of a settings file, which is made to be shared and put under version control.

A value under a key that is named like a secret is refused, whatever it says, and never shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from repurpose.config._keys import shown
from repurpose.core.declared import WHOLE_REFERENCE

__all__ = ["secrets_in"]

_NAMES = frozenset({"key", "apikey", "token", "secret", "pwd", "passwd", "password", "passphrase"})
_NAMES |= {"credential", "credentials", "auth", "authorization", "bearer", "cookie"}
_ENDINGS = ("_key", "_apikey", "_token", "_password", "_secret", "_credentials")
_DEEPEST = 40
_VARIABLES = {"base_url": "REPURPOSE_BASE_URL", "loading.proxy": "REPURPOSE_PROXY"}
"""Addresses that may hold a password, with the variable that may as well."""


def secrets_in(raw: Mapping[str, object], key_variable: str) -> Iterator[tuple[str, str]]:
    """Each key that gives a secret, and what to do about it; `key_variable` is the model's.

    Goes through everything, also through tables of which others say what stands in them.
    """
    waiting: list[tuple[str, str, object, int]] = [("", "", raw, 0)]
    while waiting:
        path, name, value, depth = waiting.pop()
        if depth > _DEEPEST:
            yield path, "is nested too deeply"
            continue
        match value:
            case Mapping():
                inner = [(f"{path}.{key}" if path else key, key) for key in value]
                steps = [(p, k, value[k], depth + 1) for p, k in inner]
                waiting.extend(reversed(steps))
            case list():
                waiting.extend((path, name, each, depth + 1) for each in reversed(value))
            case str() | int() | float():
                fault = _fault(path, name, value, key_variable)
                if fault:
                    yield path, fault
            case _:
                pass


def _fault(path: str, name: str, value: object, key_variable: str) -> str | None:
    if isinstance(value, str) and _has_password(value):
        variable = _VARIABLES.get(path)
        instead = f"set {variable} in the environment instead" if variable else "leave it out"
        return f"is an address that holds a password; {instead}"
    plain = name.casefold().replace("-", "_")
    if isinstance(value, bool) or not (plain in _NAMES or plain.endswith(_ENDINGS)):
        return None
    if not path.startswith("endpoints."):
        return f"is a secret, which is read from the environment only; set {key_variable}"
    if isinstance(value, str) and WHOLE_REFERENCE.fullmatch(value):
        return None
    return f'is a secret; write "env:NAME", and set NAME in the environment: {shown(name)}'


def _has_password(text: str) -> bool:
    """Whether the text is an address with a password in it."""
    if "://" not in text[:40] or "@" not in text or any(map(str.isspace, text)):
        return False
    try:
        return urlsplit(text).password is not None
    except ValueError:
        return True  # no address, and nobody can tell what it holds
