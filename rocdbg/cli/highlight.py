"""Source text made safe for a terminal, and coloured: Pygments' tokens become roles, by file name and language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from rocdbg.cli.visible_text import visible_source
from rocdbg.cli.writer import DEFAULT_PALETTE, RESET

if TYPE_CHECKING:
    from pygments.token import _TokenType

Parts = tuple[tuple[str, str], ...]
"""A line in parts: a role of `rocdbg.cli.themes`, and its text."""

# Clang reads C, C++ and assembly under many file extensions that Pygments does not know.
LEXERS = {
    ".hip": "cpp", ".cl": "c", ".clh": "c", ".cu": "cpp", ".cuh": "cpp", ".hpp": "cpp", ".h": "cpp",
    ".f90": "fortran",
}
ASSEMBLY = {".s", ".S", ".asm"}
"""Extensions of assembly files, for the GPU or, in a whole program, for its host."""


MAX_COLOURED = 1 << 20
"""The maximum number of characters in a file that is coloured; lexing a longer one would take noticeable time."""


def shown_lines(
    lines: Sequence[str], file: str, first: int, count: int, colour: bool, palette: Mapping[str, str] = DEFAULT_PALETTE
) -> list[str]:
    """Return lines [first, first + count) of a file, made visible and, if ``colour``, coloured by a palette.

    The whole file is lexed, so that comments are recognised. Every coloured line ends with its colours reset.
    """
    if not colour:
        return [visible_source(line) for line in lines[first : first + count]]
    return [
        "".join(f"{palette[role]}{text}{RESET}" if palette.get(role) else text for role, text in parts) + RESET
        for parts in styled_lines(lines, file)[first : first + count]
    ]


def styled_lines(lines: Sequence[str], file: str) -> Sequence[Parts]:
    """Return all lines of a file, made visible, in parts with their roles."""
    if sum(map(len, lines)) > MAX_COLOURED:
        return [(("", visible_source(line)),) for line in lines]
    return _lexed("\n".join(map(visible_source, lines)), file)


@lru_cache(maxsize=16)
def _lexed(text: str, file: str) -> tuple[Parts, ...]:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    suffix = PurePath(file).suffix
    try:
        if suffix in ASSEMBLY:
            from rocdbg.cli.amdgpu_lexer import AmdgpuLexer

            own = AmdgpuLexer(stripnl=False, ensurenl=False)
            lexer = own if own.analyse_text(text) else get_lexer_by_name("gas", stripnl=False, ensurenl=False)
        elif suffix in LEXERS:
            lexer = get_lexer_by_name(LEXERS[suffix], stripnl=False, ensurenl=False)
        else:
            lexer = get_lexer_for_filename(file, None, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return tuple((("", line),) for line in text.split("\n"))
    found: list[list[tuple[str, str]]] = [[]]
    for token, value in lexer.get_tokens(text):
        role = _role(token)
        for number, piece in enumerate(value.split("\n")):
            if number:
                found.append([])
            if not piece:
                continue
            last = found[-1]
            if last and last[-1][0] == role:
                last[-1] = (role, last[-1][1] + piece)
            else:
                last.append((role, piece))
    return tuple(map(tuple, found))


@lru_cache(maxsize=256)
def _role(token: _TokenType) -> str:
    """Return the role of a Pygments token, or that of the nearest more general token type that has one."""
    from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String

    roles = {
        Comment: "source.comment", Comment.Preproc: "source.preprocessor", Comment.PreprocFile: "source.string",
        Keyword: "source.keyword", Keyword.Type: "source.type", Operator.Word: "source.keyword",
        Name.Function: "function", Name.Class: "source.type", Name.Builtin: "source.builtin",
        Name.Variable: "register", Name.Label: "source.label", Name.Attribute: "source.name",
        Name.Constant: "source.builtin", Name.Decorator: "source.name", Name.Tag: "source.keyword",
        Name.Function.Magic: "source.preprocessor", Literal: "source.number", String: "source.string",
        Number: "source.number",
    }
    kind: _TokenType | None = token
    while kind is not None:
        if kind in roles:
            return roles[kind]
        kind = kind.parent
    return ""
