"""Where in a code object scalar instructions of some names may be, found without decoding all of its code."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rocdbg import isa
from rocdbg.codeobject import CodeObject
from rocdbg.codeobject.elf import PF_X

_KINDS = ((0xFF80_0000, 0xBF80_0000, 0xFFFF_0000), (0xFF80_0000, 0xBE80_0000, 0xFF80_FF00))
"""Of SOPP and SOP1: a mask and its value, and the bits that tell the instruction."""


def instruction_places(code_object: CodeObject, names: Collection[str]) -> list[int]:
    """Addresses (in the file) of all dwords that would be executed as SOPP or SOP1 instructions of these names.

    Where a wave's PC comes to one of them it is about to execute such an instruction. Some may be literals or data,
    where no PC comes.
    """
    target, found = code_object.target.name, list[int]()
    for part in code_object.layout.parts:
        if not part.flags & PF_X:
            continue
        data = code_object.source.bytes_at(part.file_offset, part.file_size, part.name)
        skipped = -part.address % 4
        words = np.frombuffer(data, "<u4", max(0, len(data) - skipped) // 4, skipped)
        for mask, value, opcode in _KINDS:
            at = np.flatnonzero(words & mask == value)
            codes, where = np.unique(words[at] & opcode, return_inverse=True)
            wanted = [_name(int(code), target) in names for code in codes]
            rows = at[np.array(wanted, bool)[where]]
            found += (part.address + skipped + 4 * rows.astype(np.uint64)).tolist()
    return sorted(found)


def _name(word: int, target: str) -> str:
    try:
        return isa.decode(word.to_bytes(4, "little"), target).name
    except isa.DecodeError:
        return ""
