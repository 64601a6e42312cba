"""The debug information of a module: objects, lifetime segments, code locations, fragments.

`DebugInfo` collects without checking: broken rules are left for `rocdbg.llvmdi.checker` to find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property

from rocdbg.llvmdi.debug_record_lifetimes import global_segment, record_segments
from rocdbg.llvmdi.di_expressions import Expression, Inputs, Tree, parse_expression
from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.function_flow import ControlFlow
from rocdbg.llvmdi.module import Function, GlobalVariable, Module, Node, Operand, Words
from rocdbg.llvmdi.reader import subprogram
from rocdbg.llvmdi.segments import CODES, OBJECTS, PROPERTIES, VARIABLES, Occurrence, Segment, type_bits
from rocdbg.llvmdi.typed_trees import typed_tree

__all__ = ["DebugInfo"]


class DebugInfo:
    """All debug information, by object."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.flows: dict[str, ControlFlow] = {
            name: ControlFlow(function) for name, function in module.functions.items() if function.blocks
        }
        self.nodes = list(module.all_nodes())
        self.segments: list[Segment] = []
        self.by_node: dict[Node, Segment] = {}
        self.labels: dict[Node, list[Occurrence]] = {}
        self.global_fragments: dict[Node, list[GlobalVariable]] = {}
        self.wrong_attachments: list[GlobalVariable] = []
        """Global variables whose `dbg.def` is not a fragment."""
        self.properties: dict[Node, list[tuple[Node, str]]] = {}
        self.stray: list[tuple[Occurrence, str]] = []
        """Debug instructions with a wrong first argument, and a message for each."""
        self._sizes: dict[Node, int | None] = {}
        self._address_objects: dict[Node, bool] = {}
        self._pending: set[Node] = set()
        self._trees: dict[int, Tree | NotWellFormed] = {}
        self._collect()

    # Collecting

    def _collect(self) -> None:
        module = self.module
        for node in self.nodes:
            if node.kind == "DILifetime":
                location = module.node(node.fields.get("location"))
                items = module.items(node.fields.get("argObjects"))
                arguments = tuple(module.node(item) for item in items)
                segment = Segment(module.node(node.fields.get("object")), node, location, arguments)
                self.by_node[node] = segment
                self.segments.append(segment)
            elif node.kind == "DICompositeType":
                for name in PROPERTIES:
                    fragment = module.node(node.fields.get(name), "DIFragment")
                    if fragment is not None:
                        self.properties.setdefault(fragment, []).append((node, name))
        for variable in module.globals.values():
            for attachment in variable.attachments:
                fragment = module.node(attachment.value, "DIFragment") if attachment.kind == "dbg.def" else None
                if attachment.kind == "dbg.def" and fragment is None:
                    self.wrong_attachments.append(variable)
                if fragment is not None:
                    self.global_fragments.setdefault(fragment, []).append(variable)
                segment_of_global = global_segment(module, variable, attachment.value)
                if segment_of_global is not None:
                    self.segments.append(segment_of_global)
        for flow in self.flows.values():
            for index, instruction in enumerate(flow.instructions):
                if instruction.debug:
                    self._debug_instruction(flow.function, index)
        for segment in self.segments:
            if segment.definitions:
                first = segment.definitions[0]
                flow = self.flows[first.function.name]
                kills = [kill.index for kill in segment.kills if kill.function is first.function]
                reach = flow.reach(first.index, kills)
                segment.ranges, segment.killed_by = reach.ranges, reach.ends
        self._collect_records()

    def _debug_instruction(self, function: Function, index: int) -> None:
        module = self.module
        occurrence = Occurrence(function, index)
        instruction = self.flows[function.name].instructions[index]
        kind, arguments = instruction.debug, instruction.arguments
        if kind in ("def", "kill"):
            node = module.node(arguments[0])
            segment = self.by_node.get(node) if node is not None else None
            if segment is None:
                self.stray.append((occurrence, f"the first argument of llvm.dbg.{kind} must be a DILifetime"))
            elif kind == "kill":
                segment.kills.append(occurrence)
            else:
                segment.definitions.append(occurrence)
                referrer = arguments[1]
                if isinstance(referrer, Operand):
                    segment.referrer = segment.referrer or referrer
                else:
                    self.stray.append((occurrence, "the second argument of llvm.dbg.def must be a value"))
        elif kind == "label":
            code = module.node(arguments[0], *CODES)
            if code is None:
                self.stray.append((occurrence, "the argument of llvm.dbg.label must be a DICode"))
            else:
                self.labels.setdefault(code, []).append(occurrence)

    def _collect_records(self) -> None:
        for flow in self.flows.values():
            self.segments += record_segments(self.module, flow, self.stray)

    # Queries

    @cached_property
    def segments_of(self) -> Mapping[Node, list[Segment]]:
        """The lifetime segments of each object, in the order of the text."""
        found: dict[Node, list[Segment]] = {}
        for segment in self.segments:
            if segment.object is not None:
                found.setdefault(segment.object, []).append(segment)
        return found

    @cached_property
    def objects(self) -> list[Node]:
        """Every variable and fragment, in the order of the text."""
        return [node for node in self.nodes if node.kind in OBJECTS]

    def subprogram_of(self, function: Function) -> Node | None:
        """The function's DISubprogram."""
        return subprogram(self.module, function)

    def expression(self, segment: Segment) -> Expression:
        """The segment's operations; raises `NotWellFormed` if it has no expression, or one that cannot be read."""
        if segment.trouble is not None:
            raise segment.trouble
        if segment.translated is not None:
            return segment.translated
        if segment.location is None or segment.location.kind not in ("DIExpr", "DIExpression"):
            offset = segment.node.offset if segment.node is not None else 0
            raise NotWellFormed(
                "the location of a lifetime must be a DIExpr", self.module.position(offset), "DILifetime"
            )
        return parse_expression(self.module, segment.location)

    def tree(self, segment: Segment) -> Tree:
        """The segment's expression, typed; `NotWellFormed` where it breaks a rule."""
        key = id(segment)
        known = self._trees.get(key)
        if known is None:
            try:
                expression = self.expression(segment)
                known = typed_tree(self.module, expression, self._inputs(segment, expression))
            except NotWellFormed as error:
                known = error
            self._trees[key] = known
        if isinstance(known, NotWellFormed):
            raise known.with_traceback(None)
        return known

    def _inputs(self, segment: Segment, expression: Expression) -> Inputs:
        asks = any(operation.name == "DIOpTypeObject" for operation in expression.operations)
        types = self._types_of_property(segment.object) if asks else []
        return Inputs(
            has_referrer=segment.is_bounded,
            referrer_bits=self.operand_bits(segment.referrer, segment.node is not None),
            arguments=tuple(self._argument_bits(argument) for argument in segment.arguments),
            other_sizes=tuple(self._other_sizes(argument) for argument in segment.arguments),
            is_property=bool(types),
            object_bits=tuple(map(self.type_bits, types)),
            has_lanes=self.has_lanes,
            undefined=self._undefined(segment),
            addresses=self._addresses(segment),
            referrer_is_undefined=_is_undef(segment.referrer) and segment.node is not None,
        )

    def _types_of_property(self, object: Node | None) -> list[Node]:
        """The types of which an object is a property or an input of a property; empty if it is also an input of
        anything else.
        """
        found: dict[Node, None] = {}
        seen = {object} if object is not None and self.properties else set()
        pending = list(seen)
        while pending:
            node = pending.pop()
            users = self._users.get(node, ())
            types = [type for type, _ in self.properties.get(node, ())]
            if node.kind in VARIABLES or not (users or types):
                return []
            found |= dict.fromkeys(types)
            pending += [user for user in users if user not in seen]
            seen.update(users)
        return list(found)

    @cached_property
    def _users(self) -> Mapping[Node, list[Node]]:
        """For each object, the objects of which it is an input."""
        found: dict[Node, list[Node]] = {}
        for segment in self.segments:
            for argument in segment.arguments:
                if isinstance(argument, Node) and segment.object is not None:
                    found.setdefault(argument, []).append(segment.object)
        return found

    def _undefined(self, segment: Segment) -> frozenset[int]:
        """The arguments of a lifetime that are objects without any segment, and so have no location."""
        if segment.node is None:
            return frozenset()  # records of today's notation have values as arguments
        return frozenset(
            index
            for index, argument in enumerate(segment.arguments)
            if isinstance(argument, Node) and argument.kind in OBJECTS
            and argument not in self.global_fragments and argument not in self.segments_of
        )  # fmt: skip

    def _addresses(self, segment: Segment) -> frozenset[int]:
        """The arguments of a lifetime that have an implicit address in one of their own lifetimes."""
        if segment.node is None:
            return frozenset()
        return frozenset(
            index for index, argument in enumerate(segment.arguments)
            if isinstance(argument, Node) and self._is_address(argument)
        )  # fmt: skip

    def _is_address(self, node: Node) -> bool:
        """Whether a lifetime of an object ends in `DIOpAddrOf`, or consists only of an object with such a lifetime."""
        if node in self._address_objects:
            return self._address_objects[node]
        came_from: dict[Node, Node | None] = {node: None}
        pending = [node]
        while pending:
            current = pending.pop()
            if self._address_objects.get(current) or self._ends_in_address(current):
                user: Node | None = current
                while user is not None:
                    self._address_objects[user] = True
                    user = came_from[user]
                return True
            for inner in self._handed_on(current) if current not in self._address_objects else ():
                if inner not in came_from:
                    came_from[inner] = current
                    pending.append(inner)
        self._address_objects.update(dict.fromkeys(came_from, False))
        return False

    def _ends_in_address(self, node: Node) -> bool:
        locations = (own.location for own in self.segments_of.get(node, ()))
        return any(
            where is not None and where.operations and where.operations[-1].name == "DIOpAddrOf" for where in locations
        )

    def _handed_on(self, node: Node) -> Iterator[Node]:
        """The objects with which an object coincides, because they have a lifetime of only `DIOpArg`."""
        for own in self.segments_of.get(node, ()):
            operations = own.location.operations if own.location is not None else ()
            if len(operations) != 1 or operations[0].name != "DIOpArg" or not operations[0].arguments:
                continue
            index = operations[0].arguments[0]
            inner = own.arguments[index] if isinstance(index, int) and index < len(own.arguments) else None
            if isinstance(inner, Node):
                yield inner

    @property
    def has_lanes(self) -> bool:
        """Whether the source language runs in lanes: true for GPUs, and if the text does not name its target."""
        triple = self.module.triple
        return not triple or triple.startswith(("amdgcn", "nvptx", "spir", "r600"))

    def operand_bits(self, operand: Operand | None, undefined: bool = False) -> int | None:
        """Bits of an LLVM value; None if it has no type or is undefined (unless undefined values are included).

        A debug record whose value was removed keeps its expression, and may have an `undef` of any type.
        """
        if operand is None or operand.type is None or (operand.kind == "undef" and not undefined):
            return None
        return self.module.layout.bits(operand.type) if self.module.layout.has_size(operand.type) else None

    def _argument_bits(self, argument: Node | Operand | None) -> int | None:
        return self.object_bits(argument) if isinstance(argument, Node) else self.operand_bits(argument)

    def object_bits(self, node: Node) -> int | None:
        """Bits of an object or code location; None if neither its type nor its segments give them."""
        if node in self._sizes:
            return self._sizes[node]
        if node in self._pending or len(self._pending) > 100:
            return None  # a cycle, which the checker reports
        self._pending.add(node)
        try:
            size = self._object_bits(node)
        finally:
            self._pending.discard(node)
        if not self._pending:
            self._sizes[node] = size
        return size

    def _object_bits(self, node: Node) -> int | None:
        if node.kind in CODES:
            return self.module.layout.pointers[0][0]
        if node in self.global_fragments:
            space = self.global_fragments[node][0].space
            return self.module.layout.pointers.get(space, self.module.layout.pointers[0])[0]
        if node.kind in VARIABLES:
            size = self.type_bits(self.module.node(node.fields.get("type")))
            if size is not None:
                return size
        for segment in self.segments_of.get(node, ()):
            try:
                return self.tree(segment).bits
            except NotWellFormed:
                continue
        return None

    def _other_sizes(self, argument: Node | Operand | None) -> frozenset[int]:
        """The sizes of a fragment's segments that differ from the fragment's own (`object_bits`, the size of its first
        segment).
        """
        if not isinstance(argument, Node) or argument in self._pending or len(self._pending) > 100:
            return frozenset()
        if argument.kind in (*CODES, *VARIABLES) or argument in self.global_fragments:
            return frozenset()
        segments = self.segments_of.get(argument, ())
        if len(segments) < 2:
            return frozenset()
        size, found = self.object_bits(argument), set[int]()
        self._pending.add(argument)
        try:
            for segment in segments:
                with suppress(NotWellFormed):
                    found.add(self.tree(segment).bits)
        finally:
            self._pending.discard(argument)
        return frozenset(found - {size})

    def type_bits(self, node: Node | None) -> int | None:
        """Size in bits of a DIType; None if it is not stated."""
        return type_bits(self.module, node)

    def name_of(self, node: Node) -> str:
        """A variable's name; for an object without a name, the name of its node in the text."""
        name = node.fields.get("name")
        text = getattr(name, "text", None)
        if isinstance(text, str) and not isinstance(name, Words):
            return text
        return f"!{node.name}" if node.name else node.kind


def _is_undef(operand: Operand | None) -> bool:
    return operand is not None and operand.kind == "undef"
