"""What goes wrong with code objects and their containers."""

from __future__ import annotations

from rocdbg.errors import Error


class CodeObjectError(Error):
    """A file that is damaged, or is not what it was opened as.

    ``section`` names the part of the file (``.note``, ``ELF header``, ``bundle``), ``offset`` is the byte
    offset of the trouble in the file or bundle entry; either may be unknown (None).
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
        super().__init__(f"{file}:{where}{at}{':' if where or at else ''} {reason}")


class NoSuchKernelError(Error):
    """A kernel name that the code object does not have."""

    def __init__(self, file: str, name: str, near: list[str]) -> None:
        self.file = file
        self.name = name
        self.near = near
        hint = f" (did you mean {', '.join(near)}?)" if near else ""
        super().__init__(f'no kernel "{name}" in {file}{hint}')


class UnresolvedSymbolError(Error):
    """Symbols that loading needs and nobody defines."""

    def __init__(self, file: str, names: list[str]) -> None:
        self.file = file
        self.names = names
        super().__init__(f"{file}: undefined symbol{'s' if len(names) > 1 else ''} {', '.join(names)}")


class ChoiceError(Error):
    """No entry of a container fits the request, or more than one does.

    ``available`` lists the entries there are, one line of text each.
    """

    def __init__(self, file: str, reason: str, available: list[str]) -> None:
        self.file = file
        self.reason = reason
        self.available = available
        listing = "; ".join(available) if available else "none"
        super().__init__(f"{file}: {reason}; it holds: {listing}")


class UriError(Error):
    """Text that is not a code object URI."""

    def __init__(self, uri: str, reason: str) -> None:
        self.uri = uri
        self.reason = reason
        super().__init__(f'bad code object URI "{uri}": {reason}')
