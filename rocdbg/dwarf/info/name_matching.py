"""Names as users type them, matched against the names of the debug information (GDB's rules).

A name is a chain of scopes. A user's name matches if it is the end of that chain; template arguments and parameter
types may be left out; if they are given, they must be the same. White space does not matter.
"""

from __future__ import annotations

import re
from itertools import islice

from msgspec import Struct

_SPACE = re.compile(r"(?<!\w)\s+|\s+(?!\w)")
_OPERATOR = re.compile(r"(?<![\w$])operator\s*(\(\)|\[\]|->\*?|[-+*/%^&|~!=<>,]+)")
_LITERAL = re.compile(r"(?<![\w.$])(\d+[uUlL]+)\b|'([^\\']|\\[abtnvfr0])'")
_MARK_BEHIND_SPACE = re.compile(r"(?<=[\w>*&]) (?=[*&])")
_WORD_BEHIND_MARK = re.compile(r"([*&])(const|volatile)\b")
_LEADING_CONST = re.compile(r"(?:(?<=[(<,])|(?<=[(<,] ))(const(?: volatile)?|volatile) (?=\w)")
_WORD = "(?:unsigned|signed|long|short|int|char|double)"
_BASIC = re.compile(rf"(?:{_WORD} )*{_WORD}\b")
MOST_QUALIFIERS = 200
"""Limit on the qualifiers that are moved in a name: each takes time proportional to the length of the name, which a
hostile file controls.
"""
_ESCAPES = {"\\0": 0, **{f"\\{letter}": code for code, letter in enumerate("abtnvfr", 7)}}
_NUMBERED = re.compile(r"\(char\)(\d+)")
_OPENING, _CLOSING = "(<[{", ")>]}"


def normalise(name: str) -> str:
    """The name without white space that does not separate words: ``S<float, 3U>`` -> ``S<float,3u>``."""
    return _SPACE.sub("", spelled(re.sub(r"\s+", " ", name.strip())))


def spelled(name: str) -> str:
    """A name of the debug information as GDB spells it: ``f<3U, 'c'>`` is ``f<3u, (char)99>``.

    Types in the name are written as demanglers write them: ``S<const char *>`` is ``S<char const*>``.
    """
    if name.startswith("operator ") and not name.startswith(("operator new", "operator delete")):
        return "operator " + _like_demanglers(f"({name[9:]}")[1:]  # a conversion operator
    if "<" not in name:
        return name
    return _like_demanglers(_LITERAL.sub(_literal, name))


def _like_demanglers(name: str) -> str:
    """Rewrites types after brackets and commas so that ``const`` follows the type it qualifies and ``*`` and ``&``
    follow without a space.
    """
    if "*" in name or "&" in name:
        name = _MARK_BEHIND_SPACE.sub("", name)
        name = _WORD_BEHIND_MARK.sub(r"\1 \2", name)
    found = [*islice(_LEADING_CONST.finditer(name), MOST_QUALIFIERS + 1)]
    if len(found) > MOST_QUALIFIERS:
        return name
    for match in reversed(found):  # the innermost come last
        start, end = match.end(), _specifier_end(name, match.end())
        name = f"{name[: match.start()]}{name[start:end]} {match[1]}{name[end:]}"
    return name


def _specifier_end(name: str, start: int) -> int:
    """The end of the type that begins at ``start``: words and a name with its template arguments, without ``*`` and
    ``&``.
    """
    words = _BASIC.match(name, start)
    if words:
        return words.end()
    pos, depth = start, 0
    while pos < len(name):
        char = name[pos]
        if char == "<":
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif not depth and not (char.isalnum() or char in "_:$"):
            break
        pos += 1
    return pos


def _literal(match: re.Match[str]) -> str:
    number, character = match.groups()
    if number is not None:
        return number.lower()
    return f"(char){_ESCAPES[character] if character in _ESCAPES else ord(character)}"


def with_characters(name: str) -> str:
    """Rewrite the character arguments in a class's name as GDB writes them in types: ``(char)99`` becomes
    ``(char)'c'``.
    """
    return _NUMBERED.sub(lambda found: f"(char){_quoted(int(found[1]))}", name)


def _quoted(code: int) -> str:
    for text, escaped in _ESCAPES.items():
        if escaped == code:
            return f"'{text}'"
    return f"'{chr(code)}'" if 32 <= code < 127 else str(code)


class Component(Struct, frozen=True):
    """One component of a name: ``S`` and ``<float,3>``. ``arguments`` is None when there are none."""

    base: str
    arguments: str | None

    def accepts(self, other: Component) -> bool:
        """True if this component, as typed, matches ``other``."""
        return self.base == other.base and self.arguments in (None, other.arguments)


def component(name: str) -> Component:
    """A single component, split into base and template arguments."""
    name = normalise(name)
    found = _OPERATOR.match(name)
    start = name.find("<", found.end() if found else 0)
    if start <= 0 or not name.endswith(">"):
        return Component(name, None)
    return Component(name[:start], name[start:])


class NameQuery(Struct, frozen=True):
    """A name as typed: its components, whether they begin at global scope, its parameter types (None if not given), and
    whether it has a ``const`` after them, as in ``f(int) const``.
    """

    components: tuple[Component, ...]
    is_global: bool
    parameters: str | None
    constant: bool = False

    def accepts(self, components: tuple[Component, ...]) -> bool:
        """True if an entity with these components (outermost first) matches this name."""
        count = len(self.components)
        if len(components) < count or (self.is_global and len(components) != count):
            return False
        return all(
            mine.accepts(other) for mine, other in zip(self.components, components[-count:], strict=True)
        )


def parse_name(text: str) -> NameQuery:
    """A name that a user typed, as a query. An empty name matches nothing."""
    text = normalise(text)
    is_global = text.startswith("::")
    parts = split_qualified(text[2:] if is_global else text)
    named, qualifiers = _without_qualifiers(parts[-1])
    last, parameters = _split_parameters(named)
    links = tuple(component(part) for part in (*parts[:-1], last))
    return NameQuery(links, is_global, parameters, "const" in qualifiers)


def _without_qualifiers(text: str) -> tuple[str, str]:
    """Split a last component into the part up to its parameters and the qualifiers after them: ``f(int)``, ``const``.
    """
    found = _METHOD_QUALIFIERS.search(text)
    return (text, "") if found is None else (text[: found.start(1)], found[1])


def split_qualified(text: str) -> list[str]:
    """The components of a qualified name, separated by ``::`` outside brackets and operator names."""
    parts, depth, start, pos = [], 0, 0, 0
    while pos < len(text):
        operator = _OPERATOR.match(text, pos)
        if operator:
            pos = operator.end()
            continue
        char = text[pos]
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char == ":" and depth == 0 and text.startswith("::", pos):
            parts.append(text[start:pos])
            pos += 2
            start = pos
            continue
        pos += 1
    return [*parts, text[start:]]


def _split_parameters(text: str) -> tuple[str, str | None]:
    """Take the parameter list off the last component: ``add(int,int)`` -> ``add``, ``(int,int)``."""
    operator = _OPERATOR.match(text)
    first, depth, start = operator.end() if operator else 0, 0, 0
    for pos in range(first, len(text)):
        if text[pos] == "(" and depth == 0:
            start = pos
            break
        depth += (text[pos] == "<") - (text[pos] == ">")
    if start == 0:  # no parameter list, or "(anonymous namespace)"
        return text, None
    parameters = text[start:]
    return text[:start], parameter_list(parameters)


def parameter_list(text: str) -> str:
    """Normalise a list of parameter types: without white space, and with ``const T*`` spelled ``T const*``."""
    text = normalise(_INTEGER_WORDS.sub(_integer_name, text))
    return "()" if text == "(void)" else _like_demanglers(text)


_METHOD_QUALIFIERS = re.compile(r"\)\s*((?:(?:const|volatile)\b\s*)*(?:const|volatile))\Z")
_INTEGER_WORDS = re.compile(
    r"\b(?:unsigned|signed|long|short|int|char)(?:\s+(?:unsigned|signed|long|short|int|char))*\b(?!\s+double\b)"
)


def _integer_name(words: re.Match[str]) -> str:
    """Return an integer type's usual name: ``unsigned`` and ``int unsigned`` are ``unsigned int``."""
    found = words[0].split()
    sign = "unsigned " if "unsigned" in found else "signed " if "signed" in found and "char" in found else ""
    size = "char" if "char" in found else "short" if "short" in found else " ".join(["long"] * found.count("long"))
    return sign + (size or "int")
