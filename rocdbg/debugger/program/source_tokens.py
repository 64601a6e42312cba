"""Tokens of C, C++, HIP and OpenCL source text, with macros expanded as far as their definitions are certain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

_MOST_TOKENS: Final = 100_000
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\\\r?\n)"""
    r"""|(?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9a-zA-Z]|[0-9a-zA-Z_.])*)|'(?:\\.|[^'\\\n])+'"""
    r"""|(?P<name>[A-Za-z_]\w*)"""
    r"""|<<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|<%|%>|<:|:>|%:|##|.""",
    re.S,
)
_SUSPICIOUS: Final = frozenset({"#", "##", "\\", "<%", "%>", "<:", ":>", "%:", "compl"})
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma\b[^\n]*", re.M)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:\\\r?\n|[^\n])*)", re.M)
_DEFINITION = re.compile(r"[ \t]*(\w+)(\(([\w\s,.]*)\))?((?:\\\r?\n|.)*)", re.S)


class Token(Struct, frozen=True):
    """A token: its text ("" for strings and characters) and line."""

    text: str
    line: int
    is_name: bool


class Macro(Struct, frozen=True):
    """A macro: ``parameters`` are None where it takes none in parentheses. ``line`` is that of its definition."""

    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    line: int


class Definitions(Struct):
    """What a text defines. ``certain`` are macros with one definition under no condition; ``bodies`` has the text of
    all definitions by name."""

    certain: dict[str, Macro]
    bodies: dict[str, str]
    includes: list[tuple[bool, str]]
    """(whether in quotes, the name) of the files it includes."""


def tokens_of(text: str, line: int = 1) -> Iterator[Token]:
    """The tokens of a text without comments and pragmas; ``line`` is the first line's number."""
    for match in _TOKEN.finditer(_PRAGMA.sub("", text)):
        kind = match.lastgroup
        if match["skip"] is None:
            is_string = match["string"] is not None or match[0][0] == "'"
            yield Token("" if is_string else match[0], line, kind == "name")
        line += match[0].count("\n")


def definitions_of(text: str) -> Definitions:
    """The macros of a text. What stands under a condition is not certain, but for that of an include guard."""
    found = Definitions({}, {}, [])
    conditions: list[bool] = []  # whether each is an include guard
    uncertain: set[str] = set()
    directives = list(_DIRECTIVE.finditer(text))
    for number, match in enumerate(directives):
        kind, rest = match[1], match[2]
        if kind in ("if", "ifdef", "ifndef"):
            following = directives[number + 1] if number + 1 < len(directives) else None
            conditions.append(
                kind == "ifndef" and number == 0 and following is not None and following[1] == "define"
                and following[2].split()[:1] == rest.split()[:1]
            )
        elif kind in ("else", "elif", "elifdef", "elifndef") and conditions:
            conditions[-1] = False
        elif kind == "endif" and conditions:
            conditions.pop()
        elif kind == "include":
            name = rest.strip()
            found.includes.append((name.startswith('"'), name[1:].split('"' if name[:1] == '"' else ">")[0]))
        elif kind == "undef":
            uncertain |= set(rest.split()[:1])
        elif kind == "define":
            parts = _DEFINITION.match(rest)
            if parts is None:
                continue
            name = parts[1]
            if name in found.bodies or not all(conditions):
                uncertain.add(name)
            found.bodies[name] = f"{found.bodies.get(name, '')} {parts[4]}"
            line = text.count("\n", 0, match.start()) + 1
            body = tuple(tokens_of(parts[4], line))
            parameters = None if parts[2] is None else tuple(
                part.strip() for part in parts[3].split(",") if part.strip()
            )
            if any(token.text in ("#", "##") for token in body) or any("." in part for part in parameters or ()):
                uncertain.add(name)
            found.certain[name] = Macro(parameters, body, line)
    for name in uncertain:
        found.certain.pop(name, None)
    return found


def function_tokens(text: str, line: int, name: str) -> list[Token] | None:
    """The tokens of the definition of a function that is declared at ``line``, from its name to its last brace.

    None where it is not found, or has what could be anything.
    """
    found: list[Token] = []
    depth = 0
    for token in tokens_of(text):
        if not found and (token.line < line or token.text != name):
            if token.line > line:
                return None
            continue
        found.append(token)
        if len(found) > _MOST_TOKENS or token.text in _SUSPICIOUS:
            return None
        if token.text == "{":
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0:
                return found
        elif token.text == ";" and depth == 0:
            return None
    return None


class TooManyTokensError(Exception):
    """Macros expand to more than is looked at."""


def expand(tokens: Sequence[Token], macros: Mapping[str, Macro], hidden: frozenset[str] = frozenset()) -> list[Token]:
    """Tokens with macros expanded, at the lines where they are used. Raises `TooManyTokensError`.

    A macro that takes its parentheses from behind another's expansion stays as it is.
    """
    found: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        macro = macros.get(token.text) if token.is_name and token.text not in hidden else None
        if macro is None:
            found.append(token)
        elif macro.parameters is None:
            found += expand([_at(part, token.line) for part in macro.body], macros, hidden | {token.text})
        else:
            end = _closing(tokens, index)
            arguments = _arguments(tokens, index, end) if end is not None else []
            if not macro.parameters and arguments == [[]]:
                arguments = []
            if end is None or len(arguments) != len(macro.parameters):
                found.append(token)
                continue
            given = {
                name: expand(argument, macros, hidden)
                for name, argument in zip(macro.parameters, arguments, strict=True)
            }
            body: list[Token] = []
            for part in macro.body:
                body += given[part.text] if part.is_name and part.text in given else [_at(part, token.line)]
            found += expand(body, macros, hidden | {token.text})
            index = end + 1
        if len(found) > _MOST_TOKENS:
            raise TooManyTokensError
    return found


def _at(token: Token, line: int) -> Token:
    return Token(token.text, line, token.is_name)


def _closing(tokens: Sequence[Token], opening: int) -> int | None:
    """The parenthesis that closes the one at ``opening``; None if there is none."""
    if opening >= len(tokens) or tokens[opening].text != "(":
        return None
    depth = 0
    for index in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return None


def _arguments(tokens: Sequence[Token], opening: int, closing: int) -> list[list[Token]]:
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[opening + 1 : closing]:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return found
