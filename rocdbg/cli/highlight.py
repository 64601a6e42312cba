"""Source coloured for a terminal: pygments' tokens as escape sequences, by the file's name and language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePath

from rocdbg.cli.visible_text import visible_source

# Clang reads C, C++ and assembly under many file names that pygments does not know.
LEXERS = {
    ".hip": "cpp", ".cl": "c", ".clh": "c", ".cu": "cpp", ".cuh": "cpp", ".hpp": "cpp", ".h": "cpp",
    ".f90": "fortran",
}
ASSEMBLY = {".s", ".S", ".asm"}
"""Assembly of the GPU or, for a whole program, of its host."""


MAX_COLOURED = 1 << 20
"""Limit on the characters of a coloured file; lexing a longer one would be noticeable."""


def shown_lines(lines: Sequence[str], file: str, first: int, count: int, colour: bool) -> list[str]:
    """Lines [first, first + count) of a file, made visible, and then coloured if ``colour``.

    The whole file is lexed, so that comments are recognised. Every coloured line ends with its colours reset.
    """
    if not colour or sum(map(len, lines)) > MAX_COLOURED:
        return [visible_source(line) for line in lines[first : first + count]]
    coloured = _highlight("\n".join(map(visible_source, lines)), file)
    return list(coloured[first : first + count])


@lru_cache(maxsize=16)
def _highlight(text: str, file: str) -> tuple[str, ...]:
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.formatters.terminal import TERMINAL_COLORS  # type: ignore[attr-defined]  # not in its stubs
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.token import Name
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
        return tuple(text.split("\n"))
    colours = {**TERMINAL_COLORS, Name.Label: ("magenta", "brightmagenta")}
    return tuple(str(highlight(text, lexer, TerminalFormatter(colorscheme=colours))).split("\n"))
