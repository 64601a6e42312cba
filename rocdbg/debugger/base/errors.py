"""The engine's errors about requests that it cannot meet: one class for each kind, with data as attributes."""

from __future__ import annotations

from rocdbg.errors import Error


class DebuggerError(Error):
    """Base of the engine's own errors; the message is what a front end shows."""


class ControlFlow(BaseException):
    """Unwinds to the front end (`quit`, a closed pipe), and is not an error: error handlers of commands and plug-ins
    must not catch it.
    """


NO_SYMBOL_TABLE = 'No symbol table is loaded.  Use the "file" command.'


class NoProgramError(DebuggerError):
    """A command needs a code object, but none is loaded."""

    def __init__(self) -> None:
        super().__init__(NO_SYMBOL_TABLE)


class NotRunningError(DebuggerError):
    """A command needs a running program."""

    def __init__(self, message: str = "The program is not being run.") -> None:
        super().__init__(message)


class NoRegistersError(NotRunningError):
    """Registers or a frame were requested without a running program."""

    def __init__(self, what: str = "registers") -> None:
        super().__init__(f"No {what}.")


class UnusedLaneError(NoRegistersError):
    """A frame was requested for an unused lane of a partial wave."""

    def __init__(self, lane: int) -> None:
        NotRunningError.__init__(self, f"No stack: lane {lane} is unused (it has no work-item).")


class MemoryAccessError(DebuggerError):
    """Memory that cannot be read or written.

    ``space`` is the DWARF address space's name, ``address`` the first byte that failed.
    """

    def __init__(self, space: str, address: int, size: int, reason: str = "") -> None:
        self.space = space
        self.address = address
        self.size = size
        self.reason = reason
        where = f"{address:#x}" if space == "global" else f"{space}#{address:#x}"
        super().__init__(f"Cannot access memory at address {where}")


class RegisterAccessError(DebuggerError):
    """A register that the frame or the wave does not have, or that has no known value there."""


class NoSymbolError(DebuggerError):
    """A name that is unknown in its scope."""

    def __init__(self, name: str, message: str | None = None) -> None:
        self.name = name
        super().__init__(message or f'No symbol "{name}" in current context.')


class ExpressionError(DebuggerError):
    """An expression that cannot be parsed or has no meaning; ``offset`` is where, when known."""

    def __init__(self, message: str, text: str = "", offset: int | None = None) -> None:
        self.text = text
        self.offset = offset
        super().__init__(message)


class QuitError(ExpressionError):
    """Ctrl-C has ended the evaluation of an expression."""

    def __init__(self) -> None:
        super().__init__("Quit")


class GrammarError(ExpressionError):
    """A syntax error in an expression; ``near`` is the text from the position of the error on."""

    def __init__(self, near: str, text: str = "", offset: int | None = None) -> None:
        self.near = near
        super().__init__(f"A syntax error in expression, near `{near}'.", text, offset)


class TypeNameError(ExpressionError):
    """A type's name where a value is required."""

    def __init__(self) -> None:
        super().__init__("Attempt to use a type name as an expression")


class UnavailableError(DebuggerError):
    """A required value does not exist, because it is optimized out or unavailable."""


class LocationSpecError(DebuggerError):
    """A location such as ``file:line`` that does not name a place in the program."""


class BreakpointError(DebuggerError):
    """A request about breakpoints that cannot be met; ``number`` identifies the breakpoint, if the request names one.
    """

    def __init__(self, message: str, number: int | None = None) -> None:
        self.number = number
        super().__init__(message)


class FocusError(DebuggerError):
    """A thread, lane or frame that does not exist."""


class LaunchError(DebuggerError):
    """A launch that is not complete or not possible."""


class PluginError(DebuggerError):
    """A plug-in that cannot be found or loaded."""
