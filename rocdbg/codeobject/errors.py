"""Errors of code objects and their containers."""

from __future__ import annotations

from rocdbg.errors import Error
from rocdbg.text import one_line as one_line


class CodeObjectError(Error):
    """A file that is damaged, or is not of the expected kind.

    ``section`` names the part of the file (``.note``, ``ELF header``, ``bundle``), ``offset`` is the byte offset of the
    error in the file or bundle entry; either may be unknown (None).
    """

    def __init__(
        self, file: str, reason: str, *, section: str | None = None, offset: int | None = None
    ) -> None:
        self.file = file
        self.reason = reason
        self.section = section
        self.offset = offset
        where = "" if section is None else f" {section}"
        at = "" if offset is None else f" at offset {offset:#x}"
        super().__init__(one_line(f"{file}:{where}{at}{':' if where or at else ''} {reason}"))


class NoSuchKernelError(Error):
    """A kernel name that the code object does not have."""

    def __init__(self, file: str, name: str, near: list[str]) -> None:
        self.file = file
        self.name = name
        self.near = near
        hint = f" (did you mean {', '.join(near)}?)" if near else ""
        super().__init__(one_line(f'there is no kernel "{name}" in {file}{hint}'))


class UnresolvedSymbolError(Error):
    """Symbols that loading needs but no code object defines. ``advice`` says what to do about it."""

    def __init__(self, file: str, names: list[str], advice: str = "") -> None:
        self.file = file
        self.names = names
        plural = "s" if len(names) > 1 else ""
        listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        super().__init__(one_line(f"{file}: undefined symbol{plural} {listed}{'; ' if advice else ''}{advice}"))


class ChoiceError(Error):
    """No entry of a container matches the request, or more than one does.

    ``available`` lists the entries, one line of text each; the message shows the first of them.
    """

    SHOWN = 12

    def __init__(self, file: str, reason: str, available: list[str]) -> None:
        self.file = file
        self.reason = reason
        self.available = available
        listing = "; ".join(available[: self.SHOWN]) if available else "nothing"
        more = f"; and {len(available) - self.SHOWN} more" if len(available) > self.SHOWN else ""
        super().__init__(one_line(f"{file}: {reason}; found {listing}{more}"))


class UriError(Error):
    """Text that is not a valid code object URI."""

    def __init__(self, uri: str, reason: str) -> None:
        self.uri = uri
        self.reason = reason
        super().__init__(one_line(f'bad code object URI "{uri}": {reason}'))
