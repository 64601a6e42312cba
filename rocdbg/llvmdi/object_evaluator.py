"""Evaluation: where an object is at an instruction, as a location description of `rocdbg.dwarf`.

    state = State(dwarf.SimpleContext(lane=5), {"%x": range(64)})
    Evaluator(info, state).locate(variable, function, index).read(32)

Where the specification leaves points open, docs/llvmdi.md states the interpretation. Arithmetic is that of
`rocdbg.dwarf`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocdbg.dwarf import composite_storage
from rocdbg.dwarf import typed_values as values
from rocdbg.dwarf.composite_storage import CompositeStorage
from rocdbg.dwarf.context import Context
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.evaluator import evaluate_location
from rocdbg.dwarf.location import LocationDescription, Place, implicit_location, undefined_location
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.simple_context import SimpleContext
from rocdbg.dwarf.storage import Storage, StorageKind
from rocdbg.dwarf.typed_values import Value
from rocdbg.errors import Error
from rocdbg.llvmdi.di_expressions import Operation, Tree
from rocdbg.llvmdi.errors import EvaluationError, LlvmDiError, NotWellFormed, Position
from rocdbg.llvmdi.llvm_types import PointerType, VectorType
from rocdbg.llvmdi.module import Function, Node, Operand
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.segments import CODES, Segment
from rocdbg.llvmdi.storages import EntityStorage, EntityValue, ImplicitAddressStorage, implicit_address
from rocdbg.llvmdi.target_types import architecture_name, base_type, dwarf_space

__all__ = ["Evaluator", "State"]

MAX_STEPS = 20_000
MAX_NESTING = 100
MAX_FRAGMENTS = 4096

ARITHMETIC = {
    "DIOpAdd": "plus", "DIOpSub": "minus", "DIOpMul": "mul", "DIOpDiv": "div", "DIOpMod": "mod", "DIOpShl": "shl",
    "DIOpShr": "shra", "DIOpAShr": "shra", "DIOpLShr": "shr", "DIOpAnd": "and", "DIOpOr": "or", "DIOpXor": "xor",
}  # fmt: skip
"""Each arithmetic operation and the DWARF operation of the same meaning."""
UNSIGNED = frozenset({"DIOpLShr", "DIOpZExt"})


class State:
    """The input of an evaluation: the context of A.2.5.1 with lane and memory, and the values of LLVM's entities.

    `values` maps names with their sigil (`%x`, `$exec`, `@g`, `%frame.index.0`) to bits, to bits per lane, or to a
    location description. A global variable's value is its address. `addresses` are those of blocks, by label.
    """

    def __init__(
        self,
        context: Context | None = None,
        values: Mapping[str, EntityValue] | None = None,
        addresses: Mapping[str, int] | None = None,
        object: LocationDescription | None = None,
    ) -> None:
        self.context: Context = SimpleContext() if context is None else context
        self.values: dict[str, EntityValue] = dict(values or {})
        self.addresses = dict(addresses or {})
        self.object = object

    def entity(self, name: str) -> int:
        """The bits of an entity in the current lane; `EvaluationError` if they are not known."""
        value = self.values.get(name)
        if isinstance(value, int):
            return value
        if value is None or isinstance(value, LocationDescription):
            raise EvaluationError(f"the value of {name} is not known")
        lane = self.context.lane
        if lane is None or not 0 <= lane < len(value):
            raise EvaluationError(f"{name} has a value in each of {len(value)} lanes, but the current lane is {lane}")
        return value[lane]

    def set_entity(self, name: str, value: int) -> None:
        """Change the bits of an entity in the current lane."""
        known = self.values.get(name)
        if known is None or isinstance(known, int | LocationDescription):
            self.values[name] = value
        else:
            lanes = list(known)
            lanes[self.context.lane or 0] = value
            self.values[name] = lanes


class Evaluator:
    """Locates objects in one state."""

    def __init__(self, info: DebugInfo, state: State) -> None:
        self.info = info
        self.state = state
        self.layout = info.module.layout
        self.triple = info.module.triple
        self._steps = 0
        self._depth = 0
        self._known: dict[Node, LocationDescription] = {}
        """Cache of objects located during one query: an object may be an input of many others."""

    # Objects

    def locate(
        self, node: Node, function: Function | None = None, index: int = 0, inlined: Node | None = None
    ) -> LocationDescription:
        """The location description of an object at an instruction, numbered through `function`.

        Without a function the program location is not defined, and no bounded segment is active. `inlined` is the
        DILocation at which a variable of debug records is inlined. Raises `NotWellFormed` and `EvaluationError`.
        """
        self._steps = self._depth = 0
        self._known.clear()
        if self.layout.big_endian:
            raise EvaluationError("the data layout is big-endian, and only little-endian targets are evaluated")
        try:
            return self._object(node, function, index, inlined)
        except DwarfError as error:  # a composite that exceeds the limits
            raise EvaluationError(error.reason) from None

    def locate_all(
        self, function: Function | None = None, index: int = 0
    ) -> Iterator[tuple[Node, Node | None, LocationDescription | LlvmDiError]]:
        """Where each object is at an instruction: (object, inlined-at location, its location or why that is not known).
        """
        for node in self.info.objects:
            instances = dict.fromkeys(segment.inlined for segment in self.info.segments_of.get(node, ()))
            for inlined in instances or {None: None}:
                try:
                    yield node, inlined, self.locate(node, function, index, inlined)
                except LlvmDiError as error:
                    yield node, inlined, error

    def _object(
        self, node: Node, function: Function | None, index: int, inlined: Node | None = None
    ) -> LocationDescription:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise EvaluationError(
                f"the location of an object depends on a chain of more than {MAX_NESTING} other objects"
            )
        try:
            return self._object_at(node, function, index, inlined)
        finally:
            self._depth -= 1

    def _object_at(
        self, node: Node, function: Function | None, index: int, inlined: Node | None
    ) -> LocationDescription:
        if node.kind in CODES:
            return self._code(node)
        variables = self.info.global_fragments.get(node)
        if variables:
            bits = self.layout.bits(PointerType(variables[0].space))
            return implicit_location(self.state.entity(variables[0].name), bits)
        segments = self.info.segments_of.get(node, ())
        if function is not None:
            active = [
                s for s in segments if s.is_bounded and s.inlined is inlined and s.is_active(function, index)
            ]
            if any(segment.fragment is not None for segment in active):
                return self._pieces(node, active, function, index)
            if active:
                return self._union(active, function, index)
        computed = [segment for segment in segments if not segment.is_bounded]
        if any(segment.fragment is not None for segment in computed):
            return self._pieces(node, computed, function, index)
        return self._union(computed, function, index) if computed else undefined_location()

    def _union(self, segments: list[Segment], function: Function | None, index: int) -> LocationDescription:
        """All places of all segments, each once."""
        places: list[Place] = []
        for segment in segments:
            location = self.segment(segment, function, index)
            places += [place for place in location.places if place not in places]
        return LocationDescription(*places)

    def _pieces(
        self, node: Node, segments: list[Segment], function: Function | None, index: int
    ) -> LocationDescription:
        """The location of a variable whose parts are described by debug records or by attachments of global variables.
        """
        known = [s.fragment for s in segments if s.fragment is not None]
        size = self.info.type_bits(self.info.module.node(node.fields.get("type"))) or max(a + b for a, b in known)
        parts: list[tuple[LocationDescription, int]] = []
        position = 0
        for segment in sorted(segments, key=lambda s: s.fragment or (0, size)):
            start, bits = segment.fragment or (0, size)
            if start < position or start + bits > size:
                raise EvaluationError(f"the parts of {self.info.name_of(node)} overlap or exceed its {size} bits")
            if start > position:
                parts.append((undefined_location(), start - position))
            parts.append((self.segment(segment, function, index), bits))
            position = start + bits
        if position < size:
            parts.append((undefined_location(), size - position))
        return LocationDescription(Place(CompositeStorage(parts)))

    def _code(self, node: Node) -> LocationDescription:
        occurrences = self.info.labels.get(node, [])
        if len(occurrences) != 1:
            raise EvaluationError(f"the label {self.info.name_of(node)} does not have exactly one address")
        flow = self.info.flows[occurrences[0].function.name]
        label = flow.function.blocks[flow.block_of(occurrences[0].index)].label
        if label not in self.state.addresses:
            raise EvaluationError(f"the address of block '{label}' is not known")
        return implicit_location(self.state.addresses[label], self.layout.pointers[0][0])

    # Expressions

    def segment(self, segment: Segment, function: Function | None = None, index: int = 0) -> LocationDescription:
        """The location that a segment's expression gives, whether it is active or not."""
        if segment.is_killed:
            return undefined_location()
        return self._tree(self.info.tree(segment), segment, function, index)

    def _tree(self, tree: Tree, segment: Segment, function: Function | None, index: int) -> LocationDescription:
        done: list[LocationDescription] = []
        # From the leaves to the root: trees may be deep.
        for node in _postorder(tree):
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise EvaluationError(f"the evaluation takes more than {MAX_STEPS} steps")
            count = len(node.children)
            inputs = done[len(done) - count :]
            del done[len(done) - count :]
            try:
                done.append(self._apply(node, inputs, segment, function, index))
            except DwarfError as error:
                raise EvaluationError(f"{node.name}: {error.reason}", self._position(node.operation)) from None
            except EvaluationError as error:
                if error.position is None:
                    raise EvaluationError(f"{node.name}: {error.reason}", self._position(node.operation)) from None
                raise
        return done[0]

    def _position(self, operation: Operation) -> Position:
        return self.info.module.position(operation.offset)

    def _apply(
        self, tree: Tree, inputs: list[LocationDescription], segment: Segment, function: Function | None, index: int
    ) -> LocationDescription:
        name, arguments = tree.name, tree.operation.arguments
        match name:
            case "DIOpReferrer":
                return self._operand(segment.referrer, tree.bits)
            case "DIOpArg":
                assert isinstance(arguments[0], int)
                argument = segment.arguments[arguments[0]]
                if isinstance(argument, Node):
                    if argument not in self._known:
                        self._known[argument] = self._object(argument, function, index)
                    return self._known[argument]
                return self._operand(argument, tree.bits)
            case "DIOpTypeObject":
                if self.state.object is None:
                    raise EvaluationError("no object is given whose type property could be evaluated")
                return self.state.object
            case "DIOpConstant":
                assert isinstance(arguments[0], Operand)
                return self._operand(arguments[0], tree.bits)
            case "DIOpReinterpret":
                return inputs[0]
            case "DIOpBitOffset" | "DIOpByteOffset":
                amount = self._number(inputs[1], tree.children[1])
                return inputs[0].offset_by(amount * (8 if name == "DIOpByteOffset" else 1))
            case "DIOpComposite":
                return self._composite(tree, inputs)
            case "DIOpExtend":
                assert isinstance(tree.type, VectorType)
                return _vector(composite_storage.repeat(inputs[0], tree.children[0].bits, tree.type.count))
            case "DIOpSelect":
                mask = inputs[2].read(tree.children[2].bits)
                type = self.layout.resolved(tree.type)
                assert isinstance(type, VectorType)
                bits = self.layout.bits(type.element)
                return _vector(
                    composite_storage.select(inputs[0], inputs[1], mask, tree.children[2].bits, bits, type.count)
                )
            case "DIOpAddrOf":
                return implicit_address(inputs[0], tree.bits)
            case "DIOpDeref":
                return self._deref(tree.children[0], inputs[0])
            case "DIOpRead":
                return implicit_location(inputs[0].read(tree.bits), tree.bits)
            case "DIOpPushLane":
                lane = self.state.context.lane
                if lane is None:
                    raise EvaluationError("there is no current lane")
                return implicit_location(lane, tree.bits)
            case "DIOpConvert" | "DIOpSExt" | "DIOpZExt":
                return self._convert(tree, inputs[0])
        return self._arithmetic(tree, inputs)

    def _operand(self, operand: Operand | None, bits: int) -> LocationDescription:
        """Where an LLVM value is: an entity's storage, an implicit value, or nowhere."""
        if operand is None or operand.kind == "undef":
            return undefined_location()
        if operand.kind == "constant":
            return implicit_location(operand.value, bits)
        if operand.kind != "entity":
            raise EvaluationError(f"the value of '{operand.text[:60]}' is not known")
        value = self.state.values.get(operand.name)
        if isinstance(value, LocationDescription):
            return value
        if operand.name.startswith("@"):
            return implicit_location(self.state.entity(operand.name), bits)
        return LocationDescription(Place(EntityStorage(self.state, operand.name, bits)))

    def _value(self, location: LocationDescription, tree: Tree, signed: bool = True) -> Value:
        base = base_type(self.layout, tree.type, signed=signed)
        return Value(base, values.from_bits(location.read(tree.bits), base))

    def _number(self, location: LocationDescription, tree: Tree) -> int:
        value = self._value(location, tree).value
        assert isinstance(value, int)
        return value

    def _result(self, value: Value) -> LocationDescription:
        assert value.type is not None
        return implicit_location(values.to_bits(value.value, value.type), value.type.size)

    def _convert(self, tree: Tree, location: LocationDescription) -> LocationDescription:
        signed = tree.name not in UNSIGNED
        source = self._value(location, tree.children[0], signed)
        target = base_type(self.layout, tree.type, signed=signed)
        return self._result(Value(target, values.convert(source.value, source.type, target, 64)))

    def _arithmetic(self, tree: Tree, inputs: list[LocationDescription]) -> LocationDescription:
        signed = tree.name not in UNSIGNED
        second, top = (
            self._value(location, child, signed) for location, child in zip(inputs, tree.children, strict=True)
        )
        return self._result(values.typed_binary(ARITHMETIC[tree.name], second, top))

    def _composite(self, tree: Tree, inputs: list[LocationDescription]) -> LocationDescription:
        parts = [(location, child.bits) for location, child in zip(inputs, tree.children, strict=True)]
        seen: list[tuple[Storage, int, int]] = []
        for location, bits in parts:
            composite_storage.check_part(location, bits)
            if not location.places:
                continue
            for fragment in location.fragments(bits):
                storage = fragment.storage
                if storage.kind not in (StorageKind.MEMORY, StorageKind.REGISTER):
                    continue
                if len(seen) > MAX_FRAGMENTS:
                    break
                for other, first, size in seen:
                    if first < fragment.offset + fragment.bits and fragment.offset < first + size and other == storage:
                        words = f"two parts of the composite share bits of {storage.words()}"
                        raise NotWellFormed(words, None, "DIOpComposite")
                seen.append((storage, fragment.offset, fragment.bits))
        return LocationDescription(Place(CompositeStorage(parts)))

    def _deref(self, pointer: Tree, location: LocationDescription) -> LocationDescription:
        targets = [
            place.storage.location
            for place in location.places
            if isinstance(place.storage, ImplicitAddressStorage) and not place.offset
        ]
        if targets:
            return targets[0]
        type = self.layout.resolved(pointer.type)
        assert isinstance(type, PointerType)
        return self.memory(type.space, location.read(pointer.bits))

    def memory(self, space: int, address: int) -> LocationDescription:
        """The place at a byte address of LLVM's address space."""
        number = dwarf_space(self.triple, space)
        if architecture_name(self.triple) is None:
            return evaluate_location(assemble(("constu", address)), self.state.context)
        data = assemble(("constu", address), ("constu", number), "form_aspace_address")
        return evaluate_location(data, self.state.context)


def _vector(storage: Storage) -> LocationDescription:
    return LocationDescription(Place(storage))


def _postorder(tree: Tree) -> list[Tree]:
    """The nodes, each after its children; children in the order of the stack."""
    found: list[Tree] = []
    pending = [tree]
    while pending:
        node = pending.pop()
        found.append(node)
        pending += node.children
    found.reverse()
    return found


def describe(location: LocationDescription, bits: int) -> str:
    """A location and what can be read there, as text."""
    try:
        value, known = location.read_known(bits)
    except Error as error:
        return f"{location.describe()} ({error})"
    if known == (1 << bits) - 1:
        return f"{location.describe()} = {value:#x}"
    return location.describe() if not known else f"{location.describe()} = {value:#x}, known bits {known:#x}"

