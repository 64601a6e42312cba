"""Reads a file's bytes with bounds checks; every error names the file, the part and the offset."""

from __future__ import annotations

import struct
from typing import Any

from msgspec import Struct

from rocdbg.codeobject.errors import CodeObjectError
from rocdbg.codeobject.file_bytes import FileBytes


class Source(Struct, frozen=True):
    """The bytes of one file (or of one entry of a container), and the name that errors use for it."""

    name: str
    data: bytes | bytearray | FileBytes

    def __len__(self) -> int:
        return len(self.data)

    def bytes_at(self, offset: int, size: int, section: str) -> bytes:
        """``size`` bytes from ``offset``; raises `CodeObjectError` if the file ends earlier."""
        if offset < 0 or size < 0 or offset + size > len(self.data):
            reason = f"{size} bytes are needed, but the file ends at {len(self.data):#x}"
            raise CodeObjectError(self.name, reason, section=section, offset=offset)
        return bytes(self.data[offset : offset + size])

    def unpack(self, layout: struct.Struct, offset: int, section: str) -> tuple[Any, ...]:
        """The fields of ``layout`` at ``offset``; raises `CodeObjectError` if the file ends earlier."""
        if offset < 0 or offset + layout.size > len(self.data):
            reason = f"{layout.size} bytes are needed, but the file ends at {len(self.data):#x}"
            raise CodeObjectError(self.name, reason, section=section, offset=offset)
        return layout.unpack(self.data[offset : offset + layout.size])

    def error(self, reason: str, *, section: str | None = None, offset: int | None = None) -> CodeObjectError:
        return CodeObjectError(self.name, reason, section=section, offset=offset)
