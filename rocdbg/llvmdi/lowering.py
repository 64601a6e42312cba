"""Lowering to DWARF: entries with expressions, location lists and procedures.

    lowered = lower(info, placement, dialect="amd")
    lowered.entry("x").content          # bytes, a LocationList, or None where the variable is nowhere

An object with bounded segments becomes a location list, whose default entry is its computed segment; an object without
them becomes the expression of its computed segment. A fragment becomes a DWARF procedure where several expressions, or
an entry of a location list, use it, or where it has bounded segments; otherwise its expression is inserted where it is
used. The address of a value becomes an implicit pointer to the variable that has this value, or else to an artificial
procedure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rocdbg.dwarf.context import DieContent, LocationList, LocationListEntry
from rocdbg.dwarf.operation_table import DIALECTS
from rocdbg.dwarf.typed_values import BaseType
from rocdbg.llvmdi.canonical import canonical_tree
from rocdbg.llvmdi.di_expressions import Operation, Tree
from rocdbg.llvmdi.dwarf_code import Code, Items, assembled
from rocdbg.llvmdi.errors import LlvmDiError, LoweringError, NotWellFormed
from rocdbg.llvmdi.lifetime_graph import LifetimeGraph
from rocdbg.llvmdi.module import Function, Node, Operand
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.placement import CodeAddresses, Constant, Placement, Where
from rocdbg.llvmdi.segments import CODES, VARIABLES, Segment
from rocdbg.work import doing, unit

__all__ = ["Entry", "Lowered", "lower"]

FIRST_OFFSET = 0x20
ATTRIBUTES = {
    "activeLanePC": "DW_AT_LLVM_lane_pc", "dataLocation": "DW_AT_data_location", "associated": "DW_AT_associated",
    "allocated": "DW_AT_allocated", "rank": "DW_AT_rank",
}  # fmt: skip
"""Fields that name a fragment, and the attribute for the fragment's location."""
MAX_INLINED = 32
MAX_RANGES = 1 << 16


@dataclass(eq=False)
class Entry:
    """A debugging information entry. `content` is what it offers to expressions: see `rocdbg.dwarf.context`."""

    name: str
    tag: str
    offset: int
    content: DieContent = None
    node: Node | None = None
    inlined: Node | None = None
    trouble: LlvmDiError | None = None
    """The reason why there is no content, if there is none."""
    attribute: str = "DW_AT_location"
    """The attribute that has the content."""
    owner: str = ""
    """The owner of the entry, if the fragment `name` is its attribute: a subprogram or a type."""


@dataclass(eq=False)
class Lowered:
    """The entries of a module in one dialect. Offsets are the same in .debug_info and in its only unit."""

    dialect: str
    entries: list[Entry] = field(default_factory=list)
    debug_addr: list[int] = field(default_factory=list)
    """Addresses that `DW_OP_addrx` names."""

    @property
    def dies(self) -> Mapping[int, DieContent]:
        """What the entries offer, by offset, as a `SimpleContext` takes it."""
        return {entry.offset: entry.content for entry in self.entries}

    def entry(self, name: str | Node) -> Entry:
        """The entry of a variable, a fragment (`!12`) or a node; `LoweringError` if there is none."""
        for entry in self.entries:
            if entry.node is name if isinstance(name, Node) else entry.name == name:
                return entry
        raise LoweringError(f"there is no entry for '{name if isinstance(name, str) else name.name}'")


def lower(info: DebugInfo, placement: Placement, dialect: str = "amd") -> Lowered:
    """Lower all debug information of a module. An entry that has no DWARF form states the reason.

    Raises `LoweringError` for an unknown dialect and `NotWellFormed` if the location of an object depends on itself.
    """
    if dialect not in DIALECTS:
        raise LoweringError(f"there is no dialect '{dialect}'; there are {', '.join(DIALECTS)}")
    if info.module.layout.big_endian:
        raise LoweringError("the data layout is big-endian, and only little-endian targets are lowered")
    graph = LifetimeGraph(info)
    if graph.cycle is not None:
        words = f"the location of {info.name_of(graph.cycle)} depends on itself"
        raise NotWellFormed(words, info.module.position(graph.cycle.offset), "lifetime graph")
    with doing("lowering debug information"):
        return _Lowering(info, placement, dialect).lowered()


class _Lowering:
    """The lowering of one module."""

    def __init__(self, info: DebugInfo, placement: Placement, dialect: str) -> None:
        self.info = info
        self.placement = placement
        self.dialect = dialect
        self.result = Lowered(dialect)
        self.addresses = {name: CodeAddresses(flow, placement) for name, flow in info.flows.items()}
        self.bases: dict[BaseType, Entry] = {}
        self.by_node: dict[tuple[Node, Node | None], Entry] = {}
        self.pending: deque[tuple[Entry, Segment, Tree, Function | None, int | None]] = deque()
        self.indices: dict[int, int] = {}
        self.trees: dict[int, Tree] = {}
        self.pointees: dict[Hashable, list[tuple[Segment, Tree, int | None, Entry]]] = {}
        self._alike: dict[Hashable, list[Segment]] | None = None
        self.artificial = 0
        self.users = self._users()
        self.deep = self._deep()
        self.by_offset: dict[int, Node] = {}
        self.fields: dict[Node, tuple[Node, str]] = {}
        for node in info.nodes:
            for name in ATTRIBUTES if node.kind in ("DISubprogram", "DICompositeType") else ():
                fragment = info.module.node(node.fields.get(name), "DIFragment")
                if fragment is not None:
                    self.fields.setdefault(fragment, (node, name))

    def _users(self) -> dict[Node, int]:
        """How many segments use each object."""
        users: dict[Node, int] = {}
        for segment in self.info.segments:
            for argument in segment.arguments:
                if isinstance(argument, Node):
                    # An entry of a location list may occur more than once.
                    users[argument] = users.get(argument, 0) + (2 if segment.is_bounded else 1)
        return users

    def _deep(self) -> set[Node]:
        """Fragments that get an entry because the expressions inlined into them are already nested too deeply."""
        found: set[Node] = set()
        depths: dict[Node, int] = {}
        for root in self.info.objects:
            path = [root]
            while path:
                node = path[-1]
                unit()
                inner = [
                    argument for segment in self.info.segments_of.get(node, ()) for argument in segment.arguments
                    if isinstance(argument, Node) and self.info.segments_of.get(argument) and not self._shared(argument)
                ]  # fmt: skip
                waiting = [each for each in inner if each not in depths] if node not in depths else []
                if waiting:
                    path += waiting
                    continue
                path.pop()
                if node not in depths:
                    depths[node] = 1 + max((depths[each] for each in inner), default=0)
                    if depths[node] >= MAX_INLINED:
                        found.add(node)
                        depths[node] = 0
        return found

    def add(self, name: str, tag: str, node: Node | None = None, inlined: Node | None = None) -> Entry:
        offset = self.result.entries[-1].offset + 1 if self.result.entries else FIRST_OFFSET
        entry = Entry(name, tag, offset, node=node, inlined=inlined)
        self.result.entries.append(entry)
        return entry

    def lowered(self) -> Lowered:
        for node in self.info.objects:
            if node.kind in VARIABLES:
                tag = "DW_TAG_formal_parameter" if node.fields.get("arg") else "DW_TAG_variable"
                for inlined in self._instances(node):
                    self.by_node[node, inlined] = self.add(self.info.name_of(node), tag, node, inlined)
            elif node in self.fields and not self.users.get(node):
                self.by_node[node, None] = self._attribute(node)
            elif self.has_entry(node):
                self.by_node[node, None] = self.add(self.info.name_of(node), "DW_TAG_dwarf_procedure", node)
        self.by_offset = {entry.offset: node for (node, _), entry in self.by_node.items()}
        for (node, inlined), entry in list(self.by_node.items()):
            unit()
            try:
                entry.content = self._content(node, inlined)
            except (LoweringError, NotWellFormed) as error:
                entry.trouble = error
        while self.pending:
            unit()
            entry, segment, tree, function, address = self.pending.popleft()
            try:
                entry.content = self.expression(segment, tree, function, address)
            except (LoweringError, NotWellFormed) as error:
                entry.trouble = error
        return self.result

    def _attribute(self, node: Node) -> Entry:
        """The entry that has a fragment as an attribute."""
        owner, name = self.fields[node]
        tag = "DW_TAG_subprogram" if owner.kind == "DISubprogram" else "DW_TAG_array_type"
        entry = self.add(self.info.name_of(node), tag, node)
        entry.attribute, entry.owner = ATTRIBUTES[name], self.info.name_of(owner)
        return entry

    def _instances(self, node: Node) -> list[Node | None]:
        found: list[Node | None] = []
        for segment in self.info.segments_of.get(node, ()):
            if segment.inlined not in found:
                found.append(segment.inlined)
        return found or [None]

    def has_entry(self, node: Node) -> bool:
        """Whether a fragment has an entry of its own."""
        return node in self.deep or self._shared(node)

    def _shared(self, node: Node) -> bool:
        segments = self.info.segments_of.get(node, ())
        if node in self.info.global_fragments or not segments:
            return False
        return self.users.get(node, 0) > 1 or any(s.is_bounded for s in segments) or len(segments) > 1

    # Contents

    def tree(self, segment: Segment) -> Tree:
        """A segment's expression in canonical form."""
        found = self.trees.get(id(segment))
        if found is None:
            found = self.trees[id(segment)] = canonical_tree(self.info.module.layout, self.info.tree(segment))
        return found

    def alike(self, key: Hashable) -> list[Segment]:
        """The segments of variables with this `_key`, in order: they may give the same location."""
        if self._alike is None:
            self._alike = {}
            for segment in self.info.segments:
                unit()
                if segment.object is not None and segment.object.kind in VARIABLES:
                    try:
                        own = _key(segment, self.tree(segment))
                    except NotWellFormed:
                        continue
                    self._alike.setdefault(own, []).append(segment)
        return self._alike.get(key, [])

    def _content(self, node: Node, inlined: Node | None) -> DieContent:
        segments = [s for s in self.info.segments_of.get(node, ()) if s.inlined is inlined]
        bounded = [segment for segment in segments if segment.is_bounded]
        computed = [segment for segment in segments if not segment.is_bounded]
        if not segments:
            return None
        called = bool(self.users.get(node))
        if not bounded:
            if any(segment.fragment is not None for segment in computed):
                size = self.info.type_bits(self.info.module.node(node.fields.get("type")))
                return self._parts(computed, size, None, None)
            if len(computed) > 1:
                raise LoweringError(
                    f"{self.info.name_of(node)} has {len(computed)} computed lifetime segments, but only one can be "
                    "lowered"
                )
            return self.expression(computed[0], self.tree(computed[0]), None, None, called)
        if not self.is_list(segments):
            return self.expression(bounded[0], self.tree(bounded[0]), bounded[0].function, None, called)
        entries: list[LocationListEntry] = []
        records = [segment for segment in bounded if segment.record is not None]
        for segment in bounded:
            if segment.record is None:
                entries += self._entries(segment)
        entries += self._record_entries(node, records)
        entries.sort(key=lambda entry: entry[:2])
        for segment in computed:
            entries.append((None, None, self.expression(segment, self.tree(segment), None, None)))
        if len(entries) > MAX_RANGES:
            raise LoweringError(f"a location list would have more than {MAX_RANGES} entries")
        return LocationList(_joined(entries), self.dialect)

    def is_list(self, segments: Sequence[Segment]) -> bool:
        """Whether segments become a location list."""
        bounded = [segment for segment in segments if segment.is_bounded]
        return bool(bounded) and not (len(segments) == 1 and self._is_declared(bounded[0]))

    def _is_declared(self, segment: Segment) -> bool:
        if segment.record is None:
            return False
        flow = self.info.flows[segment.record.function.name]
        return flow.instructions[segment.record.index].debug == "declare"

    def _spans(self, segment: Segment, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield runs of addresses, in a range of instructions, in which nothing that the segment uses moves."""
        function = segment.function
        assert function is not None
        low, high = self.addresses[function.name].range(first, last)
        names = {operand.name for operand in (segment.referrer, *segment.arguments) if isinstance(operand, Operand)}
        borders = {edge for name in names for edge in self.placement.borders(function.name, name)}
        edges = [low, *sorted(edge for edge in borders if low < edge < high), high]
        yield from ((a, b) for a, b in pairwise(edges) if a < b)

    def _entries(self, segment: Segment) -> Iterator[LocationListEntry]:
        """The list entries of a bounded segment; none where an entity that it uses has no location."""
        moves = self.moves(segment)
        data = b""
        for first, last in segment.ranges:
            for low, high in self._spans(segment, first, last):
                if self._is_known(segment, low):
                    if moves or not data:
                        data = self.expression(segment, self.tree(segment), segment.function, low)
                    yield low, high, data

    def moves(self, segment: Segment) -> bool:
        """Whether anything that the segment uses has different places at different addresses."""
        name = segment.function.name if segment.function is not None else ""
        operands = (segment.referrer, *segment.arguments)
        return any(isinstance(item, Operand) and self.placement.borders(name, item.name) for item in operands)

    def _is_known(self, segment: Segment, address: int) -> bool:
        """Whether all entities that move have a location at an address."""
        function = segment.function
        assert function is not None
        return all(
            self.placement.where(function.name, operand.name, address) is not None
            for operand in (segment.referrer, *segment.arguments)
            if isinstance(operand, Operand) and self.placement.borders(function.name, operand.name)
        )

    def _record_entries(self, node: Node, records: list[Segment]) -> Iterator[LocationListEntry]:
        """The entries of `#dbg_value` records: the active records of a variable describe its parts."""
        if not records:
            return
        function = records[0].function
        assert function is not None
        size = self.info.type_bits(self.info.module.node(node.fields.get("type")))
        begin: dict[int, list[int]] = {}
        end: dict[int, list[int]] = {}
        for number, segment in enumerate(records):
            for first, last in segment.ranges:
                begin.setdefault(first, []).append(number)
                end.setdefault(last, []).append(number)
        holding: set[int] = set()
        for first, last in pairwise(sorted({*begin, *end})):
            holding.difference_update(end.get(first, ()))
            holding.update(begin.get(first, ()))
            active = [records[number] for number in sorted(holding)]
            if not active or all(segment.is_killed for segment in active):
                continue
            low, high = self.addresses[function.name].range(first, last)
            if low < high:
                yield low, high, self._parts(active, size, function, low)

    def _parts(
        self, active: list[Segment], size: int | None, function: Function | None, address: int | None
    ) -> bytes:
        if len(active) == 1 and active[0].fragment is None:
            return self.expression(active[0], self.tree(active[0]), function, address)
        items: Items = []
        position = 0
        for segment in sorted(active, key=lambda s: s.fragment or (0, 0)):
            start, bits = segment.fragment or (0, size or 0)
            if start > position:
                items += ["undefined", ("bit_piece", start - position, 0)]
            code = self.code(segment, function, address)
            part = ["undefined"] if segment.is_killed else code.location(self.tree(segment))
            items += [*part, ("bit_piece", bits, 0)]
            position = start + bits
        if size is not None and position < size:
            items += ["undefined", ("bit_piece", size - position, 0)]
        return assembled([*items, "piece_end"], self.dialect)

    # Expressions

    def code(self, segment: Segment, function: Function | None, address: int | None) -> Code:
        names = _Names(self, segment, function or segment.function, address)
        return Code(names, self.info.module.layout, self.info.module.triple, self.placement)

    def expression(
        self, segment: Segment, tree: Tree, function: Function | None, address: int | None, called: bool = True
    ) -> bytes:
        """The bytes of a segment's expression, of which `tree` is all or a part."""
        if segment.is_killed:
            return assembled(["undefined"], self.dialect)
        items = self.code(segment, function, address).location(tree)
        if not called and items[-1] == "piece_end":
            items = items[:-1]  # the end of the expression also completes the composite, as in DWARF 5
        return assembled(items, self.dialect)


class _Names:
    """What the code of one segment's expression needs: see `rocdbg.llvmdi.dwarf_code.Names`."""

    def __init__(self, lowering: _Lowering, segment: Segment, function: Function | None, address: int | None) -> None:
        self.lowering = lowering
        self.info = lowering.info
        self.segment = segment
        self.function = function
        self.address = address
        self.inlined = 0

    def base(self, type: BaseType) -> int:
        bases = self.lowering.bases
        if type not in bases:
            bases[type] = self.lowering.add(type.name, "DW_TAG_base_type")
            bases[type].content = type
        return bases[type].offset

    def _argument(self, tree: Tree) -> Node | Operand | None:
        if tree.name != "DIOpArg":
            return None
        index = tree.operation.arguments[0]
        assert isinstance(index, int)
        return self.segment.arguments[index]

    def operand(self, tree: Tree) -> Operand | None:
        if tree.name == "DIOpConstant":
            operand = tree.operation.arguments[0]
            assert isinstance(operand, Operand)
            return operand
        if tree.name == "DIOpReferrer":
            return self.segment.referrer or Operand("undef", tree.type, "undef")
        argument = self._argument(tree)
        return argument if isinstance(argument, Operand) else None

    def where(self, name: str) -> Where:
        function = self.function.name if self.function is not None else ""
        found = self.lowering.placement.where(function, name, self.address)
        if found is None:
            raise LoweringError(f"the place of {name} is not known")
        return found

    def address_index(self, tree: Tree) -> int | None:
        node = self._argument(tree)
        if not isinstance(node, Node) or node.kind not in CODES:
            return None
        occurrences = self.info.labels.get(node, [])
        if len(occurrences) != 1:
            raise LoweringError(f"the label {self.info.name_of(node)} does not have exactly one address")
        flow = self.info.flows[occurrences[0].function.name]
        label = flow.function.blocks[flow.block_of(occurrences[0].index)].label
        address = self.lowering.addresses[flow.function.name].blocks[label]
        table = self.lowering.result.debug_addr
        if address not in self.lowering.indices:
            self.lowering.indices[address] = len(table)
            table.append(address)
        return self.lowering.indices[address]

    def global_address(self, tree: Tree) -> int | None:
        node = self._argument(tree)
        variables = self.info.global_fragments.get(node, []) if isinstance(node, Node) else []
        if not variables:
            return None
        where = self.where(variables[0].name)
        if not isinstance(where, Constant):
            raise LoweringError(f"the address of {variables[0].name} is not a number")
        return where.value

    def object_location(self, tree: Tree) -> Items:
        node = self._argument(tree)
        if not isinstance(node, Node):
            raise LoweringError(f"{tree.name} does not refer to anything")
        entry = self.lowering.by_node.get((node, None))
        if entry is not None:
            return ["undefined"] if not self.info.segments_of.get(node) else [("call_ref", entry.offset)]
        segments = self.info.segments_of.get(node, ())
        if not segments:
            return ["undefined"]
        inner = self.lowering.code(segments[0], None, None)
        depth = self.inlined + 1
        if depth > MAX_INLINED:
            raise LoweringError(f"fragments are nested more than {MAX_INLINED} deep")
        assert isinstance(inner.names, _Names)
        inner.names.inlined = depth
        return inner.location(self.lowering.tree(segments[0]))

    def is_list(self, entry: int) -> bool:
        node = self.lowering.by_offset.get(entry)
        return node is not None and self.lowering.is_list(self.info.segments_of.get(node, ()))

    def pointee(self, tree: Tree) -> int:
        """The entry of an object that has this location whenever this segment is active; if there is none, an
        artificial entry is made.
        """
        node = self._argument(tree)
        if isinstance(node, Node):
            entry = self.lowering.by_node.get((node, None))
            if entry is not None:
                return entry.offset
        lowering = self.lowering
        at = self.address if lowering.moves(self.segment) else None
        key = _key(self.segment, tree)
        for segment, known, address, entry in lowering.pointees.get(key, ()):
            if address == at and _alike(self.segment, segment) and _same(known.flat(), tree.flat()):
                return entry.offset
        for other in lowering.alike(key):
            if other is not self.segment and other.object is not None and self._coincides(other, tree):
                return lowering.by_node[other.object, other.inlined].offset
        lowering.artificial += 1
        entry = lowering.add(f"implicit.{lowering.artificial}", "DW_TAG_dwarf_procedure")
        lowering.pointees.setdefault(key, []).append((self.segment, tree, at, entry))
        lowering.pending.append((entry, self.segment, tree, self.function, self.address))
        return entry.offset

    def _coincides(self, other: Segment, tree: Tree) -> bool:
        """Whether, wherever this segment is active, a variable's only active segment gives the same location as a tree
        of this one.
        """
        node = other.object
        assert node is not None
        if node.kind not in VARIABLES or not _alike(self.segment, other) or other.is_bounded != self.segment.is_bounded:
            return False
        if other.is_bounded:
            own = self.info.segments_of.get(node, ())
            covered = all(any(a <= first and last <= b for a, b in other.ranges) for first, last in self.segment.ranges)
            if len(own) != 1 or not covered:
                return False
        try:
            return _same(self.lowering.tree(other).flat(), tree.flat())
        except NotWellFormed:
            return False


def _key(segment: Segment, tree: Tree) -> Hashable:
    """A key that is equal for trees with the same meaning in their segments, by which they can be found among
    thousands.
    """
    used = tuple(str(each) if isinstance(each, Operand) else each for each in segment.arguments)
    said = tuple(operation.meaning for operation in tree.flat())
    return id(segment.function), segment.referrer.name if segment.referrer else "", used, said


def _alike(a: Segment, b: Segment) -> bool:
    """Whether operations have the same meaning in two segments."""
    return (
        a.function is b.function
        and a.arguments == b.arguments
        and (a.referrer.name if a.referrer else "") == (b.referrer.name if b.referrer else "")
    )


def _same(a: list[Operation], b: list[Operation]) -> bool:
    return len(a) == len(b) and all(x.same_as(y) for x, y in zip(a, b, strict=True))


def _joined(entries: list[LocationListEntry]) -> list[LocationListEntry]:
    """The same list with adjacent equal entries merged."""
    result: list[LocationListEntry] = []
    for entry in entries:
        if result and entry[0] is not None and result[-1][1] == entry[0] and result[-1][2] == entry[2]:
            result[-1] = (result[-1][0], entry[1], entry[2])
        else:
            result.append(entry)
    return result
