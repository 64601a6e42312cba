"""Parses location strings: ``function``, ``file:line``, ``line``, ``+3``, ``*address``, ``-function F -label L``.

Errors in the syntax, which have GDB's wording (`LocationSyntaxError`), are separate from those about places that do not
exist: such places may exist later, and a breakpoint can wait for them.
"""

from __future__ import annotations

import re

from msgspec import Struct

from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import LocationSpecError


class LocationSyntaxError(LocationSpecError):
    """A location with invalid syntax, independent of the program."""


class LineSpec(Struct, frozen=True):
    """A line of a file (``None``: the default file); if ``relative``, counted from the default line."""

    file: str | None
    line: int
    relative: bool = False


class FunctionSpec(Struct, frozen=True):
    """A function, optionally in a given file, optionally with a label in it. ``qualified``: the name is complete."""

    name: str
    file: str | None = None
    label: str | None = None
    qualified: bool = False


class LabelSpec(Struct, frozen=True):
    """A label in the selected frame's function."""

    label: str


class AddressSpec(Struct, frozen=True):
    """``*EXPRESSION``."""

    expression: str


Spec = LineSpec | FunctionSpec | LabelSpec | AddressSpec

_NUMBER = re.compile(r"\d+")
_LINE = re.compile(r"([+-]?)\s*(\d+)(?=$|[\s:,])")
_OPTIONS = ("-source", "-function", "-qualified", "-line", "-label")
_MALFORMED = "malformed linespec error: unexpected"


def parse_spec(text: str) -> Spec:
    """Parse a location. Raises `LocationSyntaxError`."""
    text = text.strip()
    if text[:1] in ("'", '"') and text[0] not in text[1:]:
        raise LocationSyntaxError("unmatched quote")
    if re.match(r"-[A-Za-z]", text):
        return _explicit(text)
    if text.startswith("*"):
        if not text[1:].strip():
            raise LocationSyntaxError("Argument required (expression to compute).")
        return AddressSpec(text[1:].strip())
    return _linespec(text, qualified=False)


def _linespec(text: str, qualified: bool) -> Spec:
    line = _LINE.match(text)
    if line is not None:
        _need_end(text[line.end() :].strip())
        return _line(None, line)
    if text.startswith(":") and not text.startswith("::"):
        raise LocationSyntaxError(f"{_MALFORMED} colon")
    file, rest = split_file(text)
    if file is None:
        file, rest = split_file(_unquote(text))  # 'file.c:12': the quotes may enclose everything
    if file is None:
        if not text:
            raise LocationSyntaxError("Empty line specification.")
        return FunctionSpec(_unquote(rest.strip()), qualified=qualified)
    rest = rest.strip()
    line = _LINE.match(rest)
    if line is not None:
        _need_end(rest[line.end() :].strip())
        return _line(file, line)
    if rest[:1] == "*":
        return AddressSpec(rest[1:].strip())
    if not rest:
        raise LocationSyntaxError(f"{_MALFORMED} end of input")
    name, label = split_file(rest)
    if name is not None and label.strip() and not label.startswith(":"):
        return FunctionSpec(_unquote(name), file, _unquote(label.strip()), qualified)
    return FunctionSpec(_unquote(rest), file, qualified=qualified)


def _line(file: str | None, match: re.Match[str]) -> LineSpec:
    number = decimal(match[2])
    return LineSpec(file, -number if match[1] == "-" else number, relative=bool(match[1]))


def _need_end(rest: str) -> None:
    """Raise an error if anything follows a line number."""
    if not rest:
        return
    if rest.startswith(":"):
        raise LocationSyntaxError(f"{_MALFORMED} colon")
    word = rest.split()[0]
    what = "number" if _NUMBER.fullmatch(word) else "string"
    raise LocationSyntaxError(f'{_MALFORMED} {what}, "{word}"')


def split_file(text: str) -> tuple[str | None, str]:
    """Split off the file before a single colon that is outside ``::``, brackets and quotes."""
    if text[:1] in ('"', "'"):
        end = text.find(text[0], 1)
        if end > 0 and text[end + 1 :].lstrip()[:1] == ":" and text[end + 1 :].lstrip()[:2] != "::":
            return text[1:end], text[end + 1 :].lstrip()[1:]
        return None, text
    depth = 0
    index = 0
    while index < len(text):
        char = text[index]
        if char in "(<[":
            depth += 1
        elif char in ")>]":
            depth -= 1
        elif char == ":" and depth <= 0:
            if text[index : index + 2] == "::":
                index += 2
                continue
            return text[:index].strip(), text[index + 1 :]
        index += 1
    return None, text


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0] else text


def whole_words(text: str) -> str:
    """Return an explicit location with its options spelled out, in GDB's order; other locations are unchanged."""
    if not re.match(r"-[A-Za-z]", text.strip()):
        return text
    given, qualified, rest = _options(text.strip())
    words = ["-qualified", *([rest] if rest else [])] if qualified else []
    if "-function" in given:
        words.append(f"-function {given['-function']}")
    words += [f"{name} {given[name]}" for name in ("-label", "-line") if name in given]
    return " ".join([f"-source {given['-source']}", *words] if "-source" in given else words)


def _explicit(text: str) -> Spec:
    """Parse ``-function F -label L`` and similar; ``-qualified`` may also precede another kind of location."""
    given, qualified, rest = _options(text)
    return _linespec(rest, qualified=True) if rest else _spec_of(given, qualified)


def _options(text: str) -> tuple[dict[str, str], bool, str]:
    """Return the options of an explicit location, whether ``-qualified`` is among them, and the location after a lone
    ``-qualified``.
    """
    given: dict[str, str] = {}
    qualified = False
    rest = text
    while rest:
        word = rest.split()[0]
        name = next((option for option in _OPTIONS if option.startswith(word)), None)
        if not re.match(r"-[A-Za-z]", word):
            if qualified and not given:
                return given, qualified, rest
            raise LocationSyntaxError(f"Garbage '{rest}' at end of command")
        if name is None or word == "-":
            raise LocationSyntaxError(f'invalid explicit location argument, "{word}"')
        rest = rest[len(word) :].strip()
        if name == "-qualified":
            qualified = True
            continue
        following = re.search(r"(?:^|\s)-[A-Za-z]", rest)
        end = following.start() if following is not None else len(rest)
        if name != "-function":
            end = min(end, len(re.match(r"(\"[^\"]*\"|'[^']*'|\S*)", rest)[0]))  # type: ignore[index]
        value, rest = rest[:end].strip(), rest[end:].strip()
        if not value:
            raise LocationSyntaxError(f'missing argument for "{word}"')
        given[name] = _unquote(value)
    return given, qualified, ""


def _spec_of(given: dict[str, str], qualified: bool) -> Spec:
    file = given.get("-source")
    if "-line" in given and not _LINE.fullmatch(given["-line"]):
        raise LocationSyntaxError(f'malformed line offset: "{given["-line"]}"')
    if "-function" in given:
        return FunctionSpec(given["-function"], file, given.get("-label"), qualified)
    line = _LINE.fullmatch(given.get("-line", ""))
    if line is not None:
        return _line(file, line)
    if "-label" in given and file is None:
        return LabelSpec(given["-label"])
    raise LocationSyntaxError("Source filename requires function, label, or line offset.")
