"""Tokens of C, C++, HIP and OpenCL source text; macros whose definitions are certain are expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from rocdbg.work import unit

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
_COMMENT_OR_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
_DEFINITION = re.compile(r"[ \t]*(\w+)(\(([\w\s,.]*)\))?((?:\\\r?\n|.)*)", re.S)


class Token(Struct, frozen=True):
    """A token: its text ("" for strings and characters) and its line."""

    text: str
    line: int
    is_name: bool


class Macro(Struct, frozen=True):
    """A macro: ``parameters`` is None if it takes none in parentheses. ``line`` is the line of its definition."""

    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    line: int


class Definitions(Struct):
    """What a text defines. ``certain`` holds macros with a single, unconditional definition; ``bodies`` has the text of
    all definitions by name.
    """

    certain: dict[str, Macro]
    bodies: dict[str, str]
    includes: list[tuple[bool, str]]
    """The files that the text includes: (whether with quotes, the name)."""
    settled: dict[str, int] = field(default_factory=dict)
    """The line from which on a macro is defined, regardless of conditions."""


class Conditions(Struct):
    """What a text's directives determine. ``settled`` holds the lines from which on macros are defined regardless of
    conditions, ``evaluated`` the expressions of unconditional ``#if``, and ``code`` the remaining text that is
    certainly compiled.
    """

    settled: dict[str, int] = field(default_factory=dict)
    evaluated: list[str] = field(default_factory=list)
    code: str = ""


class _Group(Struct):
    """An open ``#if``. Include guards do not count as conditions."""

    is_guard: bool
    defined: set[str] = field(default_factory=set)
    """Macros defined by the part that is being read."""
    by_all: set[str] | None = None
    """Macros defined by all previous parts."""
    has_else: bool = False
    is_error: bool = False
    """Whether this part is never compiled."""

    def end_part(self) -> set[str]:
        """End the part that is being read; return the macros that all parts so far define."""
        if not self.is_error:
            self.by_all = self.defined if self.by_all is None else self.by_all & self.defined
        self.defined, self.is_error = set(), False
        return self.by_all or set()


def tokens_of(text: str, line: int = 1) -> Iterator[Token]:
    """Yield the tokens of a text without comments and pragmas; ``line`` is the number of the first line."""
    for match in _TOKEN.finditer(_PRAGMA.sub("", text)):
        kind = match.lastgroup
        if match["skip"] is None:
            if not match.start() & 63:  # only at some of the tokens
                unit()
            is_string = match["string"] is not None or match[0][0] == "'"
            yield Token("" if is_string else match[0], line, kind == "name")
        line += match[0].count("\n")


def definitions_of(text: str) -> Definitions:
    """Return the macros of a text. A definition under a condition other than an include guard is not certain."""
    text = _COMMENT_OR_STRING.sub(
        lambda match: match[0] if match[0][0] in "\"'" else "\n" * match[0].count("\n") or " ", text
    )
    found = Definitions({}, {}, [])
    conditions: list[bool] = []  # for each open condition, whether it is an include guard
    uncertain: set[str] = set()
    directives = list(_DIRECTIVE.finditer(text))
    for number, match in enumerate(directives):
        kind, rest = match[1], match[2]
        if kind in ("if", "ifdef", "ifndef"):
            conditions.append(number == 0 and _has_guard(text, directives))
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
    found.settled = directives_of(text).settled
    return found


def _has_guard(text: str, directives: Sequence[re.Match[str]]) -> bool:
    """Whether a text without comments has an include guard: its first directive is a condition that encloses the whole
    text, and the name is then defined without a value. A default value (``#ifndef TILE``) encloses only its definition.
    """
    if len(directives) < 3 or directives[-1][1] != "endif" or text[directives[-1].end() :].strip():
        return False
    first, second = directives[:2]
    name = first[2].strip()
    if first[1] != "ifndef" or second[1] != "define" or second[2].split() not in ([name], [name, "1"]):
        return False
    depth = 0
    for directive in directives[:-1]:
        depth += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(directive[1], 0)
        if depth == 0 or (depth == 1 and directive[1].startswith("el")):
            return False
    return bool(text[second.end() : directives[-1].start()].strip()) and not text[: first.start()].strip()


def directives_of(text: str) -> Conditions:
    """Return what a text's directives determine; the code in the result has no comments and strings."""
    text = _COMMENT_OR_STRING.sub(lambda match: "\n" * match[0].count("\n") or " ", text)
    found = Conditions()
    groups: list[_Group] = []
    code: list[str] = []
    place = 0
    directives = list(_DIRECTIVE.finditer(text))
    for number, match in enumerate(directives):
        kind, rest = match[1], match[2]
        between = text[place : match.start()]
        code += [between if all(group.is_guard for group in groups) else "\n" * between.count("\n")]
        code += ["\n" * match[0].count("\n")]
        place = match.end()
        line = text.count("\n", 0, match.start()) + 1 if kind in ("define", "endif", "undef") else 0
        if kind in ("if", "ifdef", "ifndef"):
            if kind == "if" and all(group.is_guard for group in groups):
                found.evaluated.append(rest)
            groups.append(_Group(number == 0 and _has_guard(text, directives)))
        elif kind in ("else", "elif", "elifdef", "elifndef") and groups:
            groups[-1].end_part()
            groups[-1].is_guard, groups[-1].has_else = False, kind == "else"
        elif kind == "error" and groups:
            groups[-1].is_error = True
        elif kind == "endif" and groups:
            group = groups.pop()
            defined = group.end_part()
            if group.has_else or group.is_guard:
                _settle(found, groups, defined, line)
        elif kind == "define" and rest.split():
            _settle(found, groups, {re.split(r"\W", rest.strip(), maxsplit=1)[0]}, line)
        elif kind == "undef":
            for name in rest.split()[:1]:
                found.settled.pop(name, None)
                for group in groups:
                    group.defined.discard(name)
    code.append(text[place:] if all(group.is_guard for group in groups) else "")
    found.code = "".join(code)
    return found


def _settle(found: Conditions, groups: Sequence[_Group], names: set[str], line: int) -> None:
    if groups:
        groups[-1].defined |= names
    if all(group.is_guard for group in groups):
        for name in names:
            found.settled.setdefault(name, line)


def function_tokens(text: str, line: int, name: str) -> list[Token] | None:
    """Return the tokens of a function's definition, from its name to its last brace; it is declared at ``line``.

    Return None if it is not found or contains something uncertain.
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
    """Macros would expand to more tokens than the limit."""


def expand(tokens: Sequence[Token], macros: Mapping[str, Macro], hidden: frozenset[str] = frozenset()) -> list[Token]:
    """Expand macros in tokens; the resulting tokens have the lines where the macros are used. Raises
    `TooManyTokensError`.

    If only the expansion of another macro puts a macro's name before its parentheses, it is not expanded.
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
    """Return the position of the closing parenthesis that matches the one at ``opening``; None if there is none."""
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
