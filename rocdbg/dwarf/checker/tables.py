"""Rules about name indexes, call frame tables and their augmentation strings; a table that breaks one of them can still
be read.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from rocdbg.dwarf.cursor import Cursor
from rocdbg.dwarf.decoding import decode
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.info.attribute_values import Exprloc
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.name_index import NameIndex
from rocdbg.dwarf.reader.numbers import tag_name
from rocdbg.text import decode_text

__all__ = [
    "augmentation_problem", "frame_problems", "header_problems", "index_problems", "is_indexed_by_the_extensions",
]

_WITH_ADDRESS_SIZE = (
    ".debug_addr", ".debug_line", ".debug_rnglists", ".debug_rnglists.dwo", ".debug_loclists", ".debug_loclists.dwo",
)
_AUGMENTATION = re.compile(r"(\[[^:\[\]]+:v(0|[1-9]\d*)\.(0|[1-9]\d*)(:[^\]]*)?\])*")


def augmentation_problem(text: str, is_theirs: bool = False) -> str | None:
    """The problem with an augmentation string of the extensions (A.3.1.1); None if there is none. Also None if the
    beginning of the string shows that it is not of the extensions, unless ``is_theirs`` says that it is.
    """
    if _AUGMENTATION.fullmatch(text) or not (text.startswith("[") or is_theirs):
        return None
    return f"the augmentation '{text}' does not have the form [vendor:vX.Y:options]"


def frame_problems(section: bytes, address_size: int) -> Iterator[tuple[int, str, str]]:
    """Yield offset, rule and message for problems with sizes, augmentations and versions of .debug_frame entries
    (A.6.4.1).
    """
    position = 0
    try:
        while position < len(section):
            cursor = Cursor(section, position, what="call frame information")
            length, offset_size = cursor.unsigned(4), 4
            if length == 0xFFFFFFFF:
                length, offset_size = cursor.unsigned(8), 8
            start, position = position, cursor.position + length
            if (position - start) % address_size:
                yield (
                    start, "frame-size", f"the entry has {position - start} bytes, which is not a multiple of "
                    f"{address_size}"
                )
            if not length or cursor.unsigned(offset_size) != (1 << 8 * offset_size) - 1:
                continue  # an FDE
            version, augmentation = cursor.unsigned(1), decode_text(cursor.string())
            words = augmentation_problem(augmentation)
            if words is not None:
                yield start, "augmentation-format", words
            elif augmentation.startswith("[") and version != 4:
                yield start, "call-frame", f"a CIE with this augmentation must have version 4, but has {version}"
            elif version == 4 and (size := cursor.unsigned(1)) != address_size:
                words = f"the CIE has addresses of {size} bytes, but those of the unit have {address_size}"
                yield start, "call-frame", words
    except DwarfError:  # reported as a finding of its own
        return


def header_problems(sections: Mapping[str, bytes], sizes: Container[int]) -> Iterator[tuple[str, int, str]]:
    """Yield section, offset and message for tables whose headers state an address size that no unit has (A.2.5.1)."""
    for name in _WITH_ADDRESS_SIZE:
        section, position = sections.get(name, b""), 0
        try:
            while position < len(section):
                cursor = Cursor(section, position, what=name)
                length = cursor.unsigned(4)
                if length == 0xFFFFFFFF:
                    length = cursor.unsigned(8)
                start, position = position, cursor.position + length
                version, size = cursor.unsigned(2), cursor.unsigned(1)
                if version != 5:
                    break  # there is no header, as in GCC's split units of DWARF 4
                if size not in sizes:
                    yield (
                        name, start, f"the table has addresses of {size} bytes, but no unit has addresses of this size"
                    )
        except DwarfError:
            continue  # reported as a finding of its own


def index_problems(index: NameIndex, tags: Mapping[int, int]) -> Iterator[str]:
    """Yield a message for everything in a name index that contradicts the entries of the debug information (A.6.1.1.4).
    """
    words = augmentation_problem(index.augmentation)
    if words is not None:
        yield words
    for name, entry in index.items():
        offset = entry.die_offset
        if offset is None:
            continue
        if offset not in tags:
            yield f"'{name.text}' refers to an entry at {offset:#x}, where no entry begins"
        elif tags[offset] != entry.tag:
            yield (
                f"the index gives the entry of '{name.text}' the tag {tag_name(entry.tag)}, "
                f"but its tag is {tag_name(tags[offset])}"
            )


def is_indexed_by_the_extensions(die: Die) -> bool:
    """Whether a name index must list a variable because its location forms an address in an address space (A.6.1.1.1).
    """
    value = die.attribute(At.LOCATION)
    if die.tag != Tag.VARIABLE or not isinstance(value, Exprloc) or die.name is None:
        return False
    try:
        operations = decode(value.data, die.unit.dialect)
    except DwarfError:
        return False
    return any(operation.info.meaning == "form_aspace_address" for operation in operations)
