"""A machine that holds given values in the places of a placement: registers and memory as bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocdbg import dwarf, llvmdi
from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.storage import ImplicitPointerStorage
from rocdbg.errors import Error
from rocdbg.llvmdi.module import Function, Node
from rocdbg.llvmdi.placement import CodeAddresses, FrameAddress, Pieces, Placement, Register, Slot, Where
from rocdbg.llvmdi.storages import ImplicitAddressStorage

Values = Mapping[str, int | Sequence[int]]
S33 = 65


@dataclass
class Machine:
    """Values of LLVM's entities, in the places that `places` gives, for both LLVM's and DWARF's evaluator."""

    values: Values = field(default_factory=dict)
    places: Mapping[str, object] = field(default_factory=dict)
    memory: Mapping[int, Mapping[int, bytes]] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    wave_size: int = 64

    def __post_init__(self) -> None:
        placed = llvmdi.parse_places(self.places, "amdgcn", self.wave_size)
        self.placement = Placement(placed, self.labels, wave_size=self.wave_size)
        self.registers: dict[int, bytearray] = {S33: bytearray(4)}
        self.frame = bytearray(256)
        for name, value in self.values.items():
            if name in placed:
                self.store(placed[name], value)

    def store(self, where: Where, value: int | Sequence[int], shift: int = 0) -> None:
        lanes = [value] * self.wave_size if isinstance(value, int) else value
        if isinstance(where, Pieces):
            for part, bits in where.parts:
                self.store(part, value, shift)
                shift += bits
        elif isinstance(where, Register) and where.per_lane:
            data = b"".join((lane >> shift & 0xFFFFFFFF).to_bytes(4, "little") for lane in lanes)
            self.registers[where.number] = bytearray(data)
        elif isinstance(where, Register):
            size = dwarf.SimpleContext().architecture.register_size(where.number) or 4
            known = self.registers.setdefault(where.number, bytearray(size))
            first = where.offset // 8
            rest = min(size - first, 8)
            known[first : first + rest] = (lanes[0] >> shift & (1 << 8 * rest) - 1).to_bytes(rest, "little")
        elif isinstance(where, Slot):
            self.frame[where.offset : where.offset + 8] = (lanes[0] >> shift & (1 << 64) - 1).to_bytes(8, "little")

    def context(self, lane: int | None = 0, pc: int = 0, lowered: llvmdi.Lowered | None = None) -> dwarf.SimpleContext:
        """The machine's context; with lowered debug information, its entries too."""
        return dwarf.SimpleContext(
            wave_size=self.wave_size,
            lane=lane,
            pc=pc,
            registers={number: bytes(data) for number, data in self.registers.items()},
            memory={5: {0: bytes(self.frame)}, **self.memory} if lane is not None else self.memory,
            frame_base=dwarf.Expression(assemble("lit0", "lit5", "form_aspace_address"), "amd"),
            dies=None if lowered is None else lowered.dies,
            debug_addr=None if lowered is None else lowered.debug_addr,
        )


Known = tuple[int, int] | str
"""The bits of a location with a mask of the known ones, or the error of reading them."""


def read(location: dwarf.LocationDescription, bits: int) -> Known:
    try:
        return location.read_known(bits)
    except Error:
        return "error"


def by_llvm(
    info: llvmdi.DebugInfo, machine: Machine, node: Node, bits: int, function: Function | None, index: int, lane: int
) -> Known:
    """The value of an object at an instruction by LLVM's rules; a pointer is followed."""
    addresses = {}
    pc = 0
    if function is not None:
        code = CodeAddresses(info.flows[function.name], machine.placement)
        addresses, pc = code.blocks, code.addresses[index]
    values = dict(machine.values) | {"$PC": pc}
    values |= {name: place.value for name, place in machine.placement.places.items() if name.startswith("@")}
    values |= {
        name: place.offset for name, place in machine.placement.places.items() if isinstance(place, FrameAddress)
    }
    state = llvmdi.State(machine.context(lane, pc), values, addresses)
    try:
        location = llvmdi.Evaluator(info, state).locate(node, function, index)
    except Error:
        return "error"
    storage = location.places[0].storage
    return read(storage.location if isinstance(storage, ImplicitAddressStorage) else location, bits)


def by_dwarf(
    info: llvmdi.DebugInfo, machine: Machine, node: Node, bits: int, function: Function | None, index: int, lane: int,
    dialect: str = "amd",
) -> Known:
    """The value that the DWARF lowered from the debug information gives; an implicit pointer is followed."""
    pc = 0
    if function is not None:
        pc = CodeAddresses(info.flows[function.name], machine.placement).addresses[index]
    lowered = llvmdi.lower(info, machine.placement, dialect)
    entry = lowered.entry(node)
    assert entry.trouble is None, entry.trouble
    if entry.content is None:
        return 0, 0
    content = entry.content
    assert isinstance(content, bytes | LocationList)
    context = machine.context(lane, pc, lowered)
    try:
        location = dwarf.evaluate(content, context, "location", dialect)
    except Error:
        return "error"
    assert isinstance(location, dwarf.LocationDescription)
    storage = location.places[0].storage
    if isinstance(storage, ImplicitPointerStorage):
        code = content if isinstance(content, bytes) else content.matching(pc)[0]
        read_pointer = assemble(("deref_size", storage.size // 8), dialect=dialect)
        pointer = dwarf.evaluate(code + read_pointer, context, None, dialect)
        assert isinstance(pointer, dwarf.Value)
        location = dwarf.dereference(pointer, context, dialect)
    return read(location, bits)
