"""Errors in a line of assembler."""

from __future__ import annotations

from rocdbg.errors import Error


class AssemblyError(Error):
    """A line that is not an instruction of the target: ``text`` is the line, ``reason`` what is wrong with it,
    ``column`` the place in the line, from 1."""

    def __init__(self, text: str, target: str, reason: str, column: int) -> None:
        shown = text if len(text) <= 120 else text[:117] + "..."
        super().__init__(f"Cannot assemble `{shown}' for {target}: column {column}: {reason}.")
        self.text = text
        self.target = target
        self.reason = reason
        self.column = column


class Mismatch(Exception):
    """A row of the encoding table does not match the line, after ``matched`` operands, because of ``reason``. ``word``
    is the wrong word, or "" if something is missing; ``near`` says that the word is of the right kind, but out of
    range.
    """

    def __init__(self, reason: str, matched: int = 0, word: str = "", near: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.matched = matched
        self.word = word
        self.near = near
