"""Expressions that `display` shows at each stop."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError, ExpressionError, NoRegistersError, NoSymbolError
from rocdbg.debugger.values.format_letters import Format
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


_LETTER = re.compile(r"\d*[a-z]")


class Display(Struct):
    """A display. ``block`` is the innermost block to which one of its names belongs; it is shown only inside the block.
    """

    number: int
    letters: str
    expression: str
    block: object = None
    enabled: bool = True
    unknown: str = ""
    """The error about its format letter, if that is invalid."""

    @property
    def format(self) -> Format:
        """Return the format in which it is shown. Raises `ExpressionError`."""
        return Format.parse(self.letters) if self.letters and not self.unknown else Format()

    @property
    def is_memory(self) -> bool:
        """Whether `x` shows it: it is a string, an instruction, or has a size letter."""
        return bool(self.letters) and not self.unknown and (self.format.letter in ("i", "s") or bool(self.format.size))

    @property
    def format_words(self) -> str:
        """Return the format as ``info display`` shows it: ``/x `` or ``/2wd ``."""
        if not self.letters:
            return ""
        if not self.is_memory:
            return f"/{self.letters if self.unknown else self.format.letter} "
        letter = self.format.letter or "x"
        size = "b" if letter in ("i", "s") else self.format.size
        return f"/{self.format.count}{size}{letter} "


class Displays:
    """All displays of a shell, by number."""

    def __init__(self) -> None:
        self._displays: dict[int, Display] = {}
        self._next = 1

    def add(self, shell: Shell, letters: str, expression: str) -> None:
        """`display`: show the expression now and at each stop. Raises `rocdbg.Error` if it cannot be parsed."""
        new = Display(self._next, letters, expression, shell.session.data.innermost_block(expression))
        try:
            new.format  # noqa: B018 - a letter that is none is kept, and said where the value would be
        except ExpressionError as error:
            if not _LETTER.fullmatch(letters):
                raise
            new.unknown = str(error)
        if shell.at_prompt:
            _show(shell, new)
        else:
            with suppress(NoRegistersError):  # as in GDB, this is reported only when the value is shown
                shell.session.data.expression_type(expression)
        self._displays[new.number] = new
        self._next += 1

    def all(self) -> list[Display]:
        """Return all displays in the order of their numbers."""
        return list(self._displays.values())

    def get(self, number: int) -> Display:
        """Return a display by number. Raises `DebuggerError` if there is none."""
        if number not in self._displays:
            raise DebuggerError(f"No display number {number}.")
        return self._displays[number]

    def remove(self, number: int) -> None:
        """Delete a display. Raises `DebuggerError` if there is none of this number."""
        self.get(number)
        del self._displays[number]

    def clear(self) -> None:
        """Delete all displays."""
        self._displays.clear()

    def show(self, shell: Shell) -> None:
        """Show the enabled displays that have a meaning at the focus."""
        for display in self.all():
            if not display.enabled or not is_within(shell, display):
                continue
            try:
                _show(shell, display)
            except (NoSymbolError, NoRegistersError):
                continue  # a name is unknown here: it is shown again where the name has a meaning


def is_within(shell: Shell, display: Display) -> bool:
    """Whether the selected frame is inside the block to which a display belongs."""
    return display.block is None or display.block in shell.session.data.blocks()


def _show(shell: Shell, display: Display) -> None:
    """Show one display. Raises `NoSymbolError` and syntax errors; an unreadable value is shown as ``<error: ...>``."""
    memory, fmt, letters = display.is_memory, display.format, display.letters
    slash = f"/{letters}" if letters else ""
    if letters and not memory and not display.unknown:
        slash = f"/{fmt.letter}"
    if memory:
        size = fmt.size if fmt.letter not in ("i", "s") else ""
        slash = f"/{fmt.count if fmt.count != 1 else ''}{fmt.letter or 'x'}{size}"
    inline = memory and fmt.count == 1 and fmt.letter != "i"
    if display.unknown:
        shell.line(f"{display.number}: {slash} {display.expression} = <error: {display.unknown}>")
        return
    try:
        value = shell.session.data.evaluate(display.expression)
        if memory:
            shown = shell.session.examiner.shown(value, fmt)
            shell.state.next_examine = shell.session.examiner.following(shown, value)
            failed = [f"{shown.begun}<error: {shown.error}>"] if shown.error is not None else []
            rows = [*(row.text for row in shown.lines), *failed]
            text = "  " + "\n".join(rows) if inline else "".join("\n" + row for row in rows)
        else:
            text = " = " + shell.session.data.format(value, fmt)
    except NoSymbolError:
        raise
    except Error as error:  # its syntax was checked when it was created
        text = f"{'  ' if inline else chr(10)}<error: {error}>" if memory else f" = <error: {error}>"
    shell.line(f"{display.number}: {'x' if memory else ''}{slash}{' ' if slash else ''}{display.expression}{text}")
