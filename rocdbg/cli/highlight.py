"""Coloured source: pygments' tokens as escape sequences, by the file's name and language."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePath

# What clang reads is C, C++ or assembly under many names that pygments does not know.
LEXERS = {
    ".hip": "cpp", ".cl": "c", ".clh": "c", ".cu": "cpp", ".cuh": "cpp", ".hpp": "cpp", ".h": "cpp",
    ".s": "gas", ".S": "gas", ".asm": "gas", ".f90": "fortran",
}  # fmt: skip


def highlight_lines(lines: list[str], file: str, first: int = 0, count: int | None = None) -> list[str]:
    """Lines [first, first + count) of a file, coloured; the whole file is lexed, so that comments are known.

    Every returned line ends with its colours reset.
    """
    coloured = _highlight("\n".join(lines), file)
    end = len(lines) if count is None else first + count
    return list(coloured[first:end])


@lru_cache(maxsize=16)
def _highlight(text: str, file: str) -> tuple[str, ...]:
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    suffix = PurePath(file).suffix
    try:
        if suffix in LEXERS:
            lexer = get_lexer_by_name(LEXERS[suffix], stripnl=False, ensurenl=False)
        else:
            lexer = get_lexer_for_filename(file, None, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return tuple(text.split("\n"))
    return tuple(str(highlight(text, lexer, TerminalFormatter())).split("\n"))
