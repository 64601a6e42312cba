"""`ptype/o`: a structure with the offset and size of each member and the holes between them, laid out as GDB does."""

from __future__ import annotations

from rocdbg.debugger.reports.symbols import declaration
from rocdbg.dwarf.info import Type, describe
from rocdbg.dwarf.info.types import ClassKind, ClassType, Member

COMMENT = 27  # columns of the comment before a member


def offset_lines(type_: Type) -> list[str]:
    """The lines of ``ptype/o``; of a type without members those of ``ptype``."""
    bare = type_.strip_typedefs().strip_qualifiers()
    plain = list(describe(bare))
    if not isinstance(bare, ClassType):
        return [f"type = {plain[0]}", *plain[1:]]
    head = "/* offset      |    size */  type = "
    return [head + plain[0], *_body(bare, 0, 4), " " * (COMMENT + 2) + "}"]


def _body(type_: ClassType, base: int, indent: int) -> list[str]:
    """Members, holes, and the total. ``base`` is the structure's own offset in bytes."""
    lines: list[str] = []
    union = type_.kind is ClassKind.UNION
    end = 0  # bits that members so far take
    for member in type_.members:
        start = member.bit_offset
        if start is None:
            continue
        if not union:
            lines += _hole(end, start, "hole")
        lines += _member(member, base, union, indent)
        size = member.bit_size if member.bit_size is not None else 8 * (member.type.size or 0)
        end = max(end, start + size)
    if not union and type_.members:
        lines += _hole(end, 8 * (type_.size or 0), "padding")
    total = f"/* total size (bytes): {type_.size or 0:>4} */"
    return [*lines, "", " " * (COMMENT + indent) + total]


def _hole(end: int, start: int, what: str) -> list[str]:
    """Up to two comments: bits to the byte's end, then whole bytes."""
    lines = []
    if end < start:
        bits = min(-end % 8, start - end)
        whole = (start - end - bits) // 8
        for count, unit in ((bits, "bit"), (whole, "byte")):
            if count:
                text = f"/* XXX {count:>2}-{unit} {what:<7}"
                lines.append(f"{text:<{COMMENT - 2}}*/")
    return lines


def _member(member: Member, base: int, union: bool, indent: int) -> list[str]:
    bits = member.bit_offset or 0
    size = member.type.size or 0
    offset = base + bits // 8
    if union:
        comment = f"/*{size:>22} */"
    elif member.bit_size is not None:
        comment = f"/*{base + bits // 8:>7}:{bits % 8:>2}   |{size:>8} */"
    else:
        comment = f"/*{offset:>7}      |{size:>8} */"
    pad = " " * indent
    inner = member.type.strip_typedefs().strip_qualifiers()
    if isinstance(inner, ClassType) and inner is member.type and inner.members:
        head = next(iter(describe(inner)))
        tail = f"}} {member.name};" if member.name else "};"
        blank = " " * (COMMENT + indent)
        return [f"{comment}{pad}{head}", *_body(inner, offset, indent + 4), blank + tail]
    width = f" : {member.bit_size}" if member.bit_size is not None else ""
    return [f"{comment}{pad}{declaration(member.type, member.name or '')}{width};"]
