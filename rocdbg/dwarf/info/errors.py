"""Problems in debug information, and where they are."""

from __future__ import annotations

from rocdbg.errors import Error


class DebugInfoError(Error):
    """Debug information that cannot be read.

    ``section`` is the name of the section (``".debug_info"``), ``offset`` the position in it that
    was being read (None where no position makes sense), ``reason`` what is wrong there.
    """

    def __init__(self, section: str, offset: int | None, reason: str) -> None:
        self.section = section
        self.offset = offset
        self.reason = reason
        where = section if offset is None else f"{section} at offset {offset:#x}"
        super().__init__(f"bad debug information in {where}: {reason}")


def reraise(error: DebugInfoError) -> None:
    """The default handling of damage: raise it."""
    raise error
