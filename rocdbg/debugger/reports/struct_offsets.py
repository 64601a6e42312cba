"""`ptype/o`: a structure with the offset and size of each member, and the holes between members, in GDB's layout."""

from __future__ import annotations

from rocdbg.dwarf.info import Type, describe
from rocdbg.dwarf.info.type_text import (
    ALL,
    Leaves,
    Shown,
    class_head,
    data_members,
    local_names,
    member_text,
    needs_labels,
    resolve,
)
from rocdbg.dwarf.info.types import (
    Access,
    ArrayType,
    ClassKind,
    ClassType,
    Member,
    PointerType,
    QualifiedType,
    StaticMember,
)

COMMENT = 27  # the width of the comment before a member, in columns


def offset_lines(type_: Type, hexadecimal: bool = False, shown: Shown = ALL) -> list[str]:
    """Return the lines of ``ptype/o``; for a type without members, those of ``ptype``.

    A structure under its own name has a heading; under a typedef's name it has none.
    """
    bare = type_.strip_typedefs().strip_qualifiers()
    if not isinstance(bare, ClassType):
        end = _end(resolve(type_))
        if not isinstance(end, ClassType):
            plain = list(describe(type_, shown))
            return [f"type = {plain[0]}", *plain[1:]]
        before, _, after = resolve(type_).declare("", lambda _: _END).partition(_END)
        body = _Layout(hexadecimal, shown).body(end, 0, 4, {})
        return [f"type = {before}{class_head(end, shown.raw)} {{", *body, " " * (COMMENT + 2) + f"}}{after}"]
    head = "/* offset      |    size */  " if isinstance(type_.strip_qualifiers(), ClassType) else ""
    layout = _Layout(hexadecimal, shown)
    return [f"{head}type = {class_head(bare, shown.raw)} {{", *layout.body(bare, 0, 4, {}), " " * (COMMENT + 2) + "}"]


class _Layout:
    """Lays out one structure and the structures in it."""

    def __init__(self, hexadecimal: bool, shown: Shown) -> None:
        self.hexadecimal = hexadecimal
        self.shown = shown

    def body(
        self, type_: ClassType, base: int, indent: int, around: dict[str, str], pointed: bool = False, within: int = 0
    ) -> list[str]:
        """Return members, holes, and the total. ``base`` is the structure's own offset in bytes.

        ``within`` is its offset, in bits, in the structure around it. ``pointed``: it has no name and is the target of
        a pointer or array; then there is no total, and named structures in it are not expanded.
        """
        lines: list[str] = []
        names = local_names(type_, around, self.shown)
        blank = " " * (COMMENT + indent)
        union = type_.kind is ClassKind.UNION
        end = 0  # bits that the members so far occupy; as in GDB, a hole before the first member is not reported
        current: Access | None = None
        fields = data_members(type_)
        labels = needs_labels(type_)
        for access, member in fields:
            if labels and access != current:
                lines.append(f"{blank[2:]}{access.name.lower()}:")
                current = access
            if isinstance(member, StaticMember):
                lines.append(blank + member_text(member, Leaves(-1, names=names, shown=self.shown)))
                continue
            start = member.bit_offset
            if start is None:
                continue
            if not union:
                lines += _hole(end, start, "hole")
            lines += self._member(member, base, union, indent, names, pointed)
            size = member.bit_size if member.bit_size is not None else 8 * (member.type.size or 0)
            end = start + size
        if not fields:
            lines.append(f"{blank}<no data fields>")
        if pointed:
            return lines
        # for a union, GDB counts from the union's offset in the enclosing structure
        lines += _hole(within if union else end, 8 * (type_.size or 0), "padding")
        return [*lines, "", f"{blank}/* total size (bytes): {type_.size or 0:>4} */"]

    def _member(
        self, member: Member, base: int, union: bool, indent: int, names: dict[str, str], pointed: bool
    ) -> list[str]:
        comment = self._comment(member, base, union)
        pad, blank = " " * indent, " " * (COMMENT + indent)
        type_ = member.type
        if isinstance(type_, ClassType) and str(type_) not in names and not (pointed and type_.name):
            offset = base + (member.bit_offset or 0) // 8
            tail = f"}} {member.name};" if member.name else "};"
            inside = self.body(type_, offset, indent + 4, names, pointed, 0 if union else member.bit_offset or 0)
            return [f"{comment}{pad}{class_head(type_, self.shown.raw, names)} {{", *inside, blank + tail]
        end = _end(type_)
        if isinstance(end, ClassType) and end.name is None:
            before, _, after = type_.declare(member.name or "", lambda _: _END).partition(_END)
            head = class_head(end, self.shown.raw, names)
            inside = self.body(end, 0, indent + 4, names, pointed=True)
            return [f"{comment}{pad}{before}{head} {{", *inside, f"{blank}}}{after};"]
        leaves = Leaves(0, COMMENT + indent, names, self.shown)
        return [f"{comment}{pad}{member_text(member, leaves)}"]

    def _comment(self, member: Member, base: int, union: bool) -> str:
        """Return the offset and size of a member, in `COMMENT` columns."""
        bits = member.bit_offset or 0
        offset, size = base + bits // 8, member.type.size or 0
        width = f"{size:#06x}" if self.hexadecimal else f"{size:>6}"
        if union:
            return f"/*{width:>22} */"
        place = f"{offset:#06x}" if self.hexadecimal else f"{offset:>6}"
        if member.bit_size is None:
            return f"/* {place}      |  {width} */"
        bit = f" {bits % 8:#x}" if self.hexadecimal else f"{bits % 8:>2}"
        return f"/* {place}:{bit}".ljust(15) + f"|  {width} */"


_END = "\0"
"""A placeholder for the type at the end of a declarator."""


def _end(type_: Type) -> Type:
    """Return the type at the end of a chain of pointers and arrays."""
    while isinstance(type_, PointerType | ArrayType | QualifiedType):
        type_ = type_.element if isinstance(type_, ArrayType) else type_.target
    return type_


def _hole(end: int, start: int, what: str) -> list[str]:
    """Return up to two comments on bits that belong to no member."""
    lines = []
    if 0 < end < start:
        whole, bits = divmod(start - end, 8)
        for count, unit in ((bits, "bit"), (whole, "byte")):
            if count:
                # the three letters are how GDB marks a hole
                text = f"/* XXX {count:>2}-{unit} {what:<7}"
                lines.append(f"{text:<{COMMENT - 2}}*/")
    return lines
