"""A `Context` made of dictionaries: for tests, for tools, and for trying things out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rocdbg.dwarf.architecture import UNSPECIFIED, Architecture, architecture_by_name
from rocdbg.dwarf.caller_context import CallerContext
from rocdbg.dwarf.caller_registers import default_location
from rocdbg.dwarf.context import Context, DieContent, ExpressionLike
from rocdbg.dwarf.errors import EvaluationError, IllFormed, missing_address
from rocdbg.dwarf.location import LocationDescription, Place, implicit_location
from rocdbg.dwarf.storage import RegisterStorage

__all__ = ["SimpleContext", "SimpleMemory"]

GENERIC, LOCAL, PRIVATE_LANE, PRIVATE_WAVE = 1, 3, 5, 6
_APERTURE_NAMES = {"local": LOCAL, "shared": LOCAL, "group": LOCAL, "private": PRIVATE_LANE, "scratch": PRIVATE_LANE}


class SimpleMemory:
    """Memory by DWARF address space: `{space: {address: bytes}}`, of the AMDGPU address spaces.

    private_lane (5) and private_wave (6) are two views of the same bytes: dword d of lane l lies at private_wave
    address (d * wave_size + l) * 4. Generic addresses (1) within an aperture are local or private_lane addresses, all
    others global. Bytes given for private_lane (5) are those of the focused lane.
    """

    def __init__(
        self,
        contents: Mapping[int, Mapping[int, bytes]],
        wave_size: int,
        lane: int | None,
        apertures: Mapping[int | str, int | tuple[int, int]],
    ) -> None:
        self._wave_size = wave_size
        self._segments: dict[int, list[tuple[int, bytearray]]] = {}
        self._private: dict[int, int] = {}
        self._apertures: list[tuple[int, int, int]] = []
        for key, extent in apertures.items():
            space = _APERTURE_NAMES.get(key) if isinstance(key, str) else key
            if space not in (LOCAL, PRIVATE_LANE):
                raise EvaluationError(f"there is no aperture for {key!r}; there are 'local' (3) and 'private' (5)")
            base, limit = extent if isinstance(extent, tuple) else (extent, extent + 0xFFFF_FFFF)
            self._apertures.append((base, limit, space))
        for given_space, blocks in contents.items():
            for given_address, data in blocks.items():
                space, address = self._resolve(given_space, given_address)
                if space == PRIVATE_WAVE:
                    self._private.update(enumerate(data, address))
                elif space == PRIVATE_LANE:
                    if lane is None:
                        continue  # unowned memory: without a lane, no expression can form a location in it
                    where = self._swizzled(address, len(data), lane)
                    self._private.update(zip(where, data, strict=True))
                else:
                    self._segments.setdefault(space, []).append((address, bytearray(data)))
        for space, segments in self._segments.items():
            self._segments[space] = _joined(segments)

    def read(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Return `size` bytes; `EvaluationError` where there are none."""
        space, address = self._resolve(space, address)
        if space in (PRIVATE_LANE, PRIVATE_WAVE):
            private = self._private
            try:
                return bytes([private[where] for where in self._private_addresses(space, address, size, lane)])
            except KeyError:
                raise _unmapped("read", space, address, size) from None
        if not size:
            return b""
        segment, start = self._find("read", space, address, size)
        return bytes(segment[start : start + size])

    def write(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Replace existing bytes; `EvaluationError` where there are none."""
        space, address = self._resolve(space, address)
        if space in (PRIVATE_LANE, PRIVATE_WAVE):
            where = list(self._private_addresses(space, address, len(data), lane))
            if any(place not in self._private for place in where):
                raise _unmapped("write", space, address, len(data))
            self._private.update(zip(where, data, strict=True))
        elif data:
            segment, start = self._find("write", space, address, len(data))
            segment[start : start + len(data)] = data

    def _resolve(self, space: int, address: int) -> tuple[int, int]:
        if space != GENERIC:
            return space, address
        for base, limit, target in self._apertures:
            if base <= address <= limit:
                return target, address - base
        return 0, address

    def _private_addresses(self, space: int, address: int, size: int, lane: int | None) -> Iterator[int]:
        if space == PRIVATE_WAVE:
            return iter(range(address, address + size))
        return self._swizzled(address, size, lane)

    def _swizzled(self, address: int, size: int, lane: int | None) -> Iterator[int]:
        if lane is None:
            raise EvaluationError(
                "private memory of a lane can be accessed only with a current lane, and there is none"
            )
        wave = self._wave_size
        return (at // 4 * wave * 4 + lane * 4 + at % 4 for at in range(address, address + size))

    def _find(self, verb: str, space: int, address: int, size: int) -> tuple[bytearray, int]:
        for base, data in self._segments.get(space, ()):
            if base <= address and address + size <= base + len(data):
                return data, address - base
        raise _unmapped(verb, space, address, size)


def _joined(segments: list[tuple[int, bytearray]]) -> list[tuple[int, bytearray]]:
    """Merge adjoining segments, so that an access may cross their border."""
    result: list[tuple[int, bytearray]] = []
    for address, data in sorted(segments, key=lambda segment: segment[0]):
        if result and result[-1][0] + len(result[-1][1]) == address:
            result[-1][1].extend(data)
        else:
            result.append((address, data))
    return result


def _unmapped(verb: str, space: int, address: int, size: int) -> EvaluationError:
    return EvaluationError(f"cannot {verb} {size} bytes at {address:#x} of address space {space}")


class SimpleContext:
    """A context (A.2.5.1) from plain data; every element can be left out.

    `architecture` is a name, an `Architecture`, or None for none. `registers` are those of the current frame by DWARF
    number: little-endian bytes, or a location description. `entry_registers` are the registers on entry to the
    subprogram, and therefore those of the caller at the call; `call_site_values` are the call site's DW_AT_call_value
    expressions by parameter entry. Registers not in `entry_registers` follow the architecture's default rule. `memory`
    is as `SimpleMemory` takes it. `apertures` maps "local" and "private" (or 3 and 5) to the generic address they begin
    at, or to (first, last). `dies` maps offsets, which are the same in the unit and in .debug_info, to what the entries
    offer. `load_bias` is that of `rocdbg.dwarf.context.Loaded`. `cfa` and `object` may be set later, to locations made
    with this context. Writing to locations changes `registers` and the memory.
    """

    def __init__(
        self,
        *,
        architecture: str | Architecture | None = "amdgcn",
        wave_size: int = 64,
        lanes: int | None = None,
        lane: int | None = None,
        iterations: int = 1,
        iteration: int | None = None,
        pc: int | None = None,
        registers: Mapping[int, bytes | LocationDescription] | None = None,
        memory: Mapping[int, Mapping[int, bytes]] | None = None,
        entry_registers: Mapping[int, bytes | LocationDescription] | None = None,
        frame_base: ExpressionLike | LocationDescription | None = None,
        apertures: Mapping[int | str, int | tuple[int, int]] | None = None,
        debug_addr: Sequence[int] | None = None,
        offset_size: int = 4,
        dies: Mapping[int, DieContent] | None = None,
        cfa: LocationDescription | None = None,
        object: LocationDescription | None = None,
        call_site_values: Mapping[int, ExpressionLike] | None = None,
        load_bias: int = 0,
    ) -> None:
        if isinstance(architecture, str):
            architecture = architecture_by_name(architecture)
        self.architecture: Architecture = UNSPECIFIED if architecture is None else architecture
        self.wave_size = wave_size
        self.lanes = wave_size if lanes is None else lanes
        self.lane = lane
        self.iterations = iterations
        self.iteration = iteration
        self.pc = pc
        self.registers = dict(registers or {})
        self.entry_registers = dict(entry_registers or {})
        self.frame_base = frame_base
        self.load_bias = load_bias
        self.debug_addr = None if debug_addr is None else list(debug_addr)
        self.offset_size = offset_size
        self.dies = None if dies is None else dict(dies)
        self.cfa = cfa
        self.object = object
        self.call_site_values = dict(call_site_values or {})
        self.memory = SimpleMemory(memory or {}, wave_size, lane, apertures or {})
        self._locations: dict[int, LocationDescription] = {}

    # Registers

    def register_location(self, number: int) -> LocationDescription:
        """Where a register is according to `registers` (A.2.5.4.4.4); raises what `Context.register_location` raises.
        """
        location = self._locations.get(number)
        if location is None:
            content = self.registers.get(number)
            if isinstance(content, LocationDescription):
                return content
            size = self.architecture.register_size(number)
            if size is None:
                if content is None:
                    raise self._unknown_register(number)
                size = len(content)
            storage = RegisterStorage(self, self.architecture, number, 8 * size)
            location = self._locations[number] = LocationDescription(Place(storage))
        return location

    def _unknown_register(self, number: int) -> EvaluationError | IllFormed:
        if self.architecture is UNSPECIFIED:
            return EvaluationError(f"register {number} needs a target architecture, and there is none")
        return IllFormed(f"{self.architecture.name} has no DWARF register {number}")

    def read_register(self, number: int, offset: int, size: int) -> bytes:
        """`size` bytes of a register from byte `offset` (A.2.5.4.4.4); `EvaluationError` where none are known."""
        content = self.registers.get(number)
        if content is None and self.pc is not None and number == self.architecture.return_address_register:
            # The program location of the top frame is the program counter (A.2.5.1).
            content = self.pc.to_bytes(self.architecture.register_size(number) or 8, "little")
        if isinstance(content, bytes | bytearray) and offset + size <= len(content):
            return bytes(content[offset : offset + size])
        raise EvaluationError(f"register {self.architecture.register_name(number)} is not available")

    def write_register(self, number: int, offset: int, data: bytes) -> None:
        """Replace bytes of a register in `registers` (A.2.5.4.4.4); `EvaluationError` where none are known."""
        content = self.registers.get(number)
        if not isinstance(content, bytes | bytearray) or offset + len(data) > len(content):
            raise EvaluationError(f"register {self.architecture.register_name(number)} is not available")
        self.registers[number] = bytes(content[:offset]) + data + bytes(content[offset + len(data) :])

    def entry_register_location(self, number: int) -> LocationDescription:
        """The register's value on entry (A.2.5.4.4.1): from `entry_registers`, else by the architecture's default rule.

        Raises as `register_location`.
        """
        content = self.entry_registers.get(number)
        if isinstance(content, LocationDescription):
            return content
        if content is not None:
            return implicit_location(int.from_bytes(content, "little"), 8 * len(content))
        return default_location(self, number, self.architecture)

    def caller(self) -> Context:
        """The calling frame (A.2.5.4.3.4): it has the registers on entry, and is at the call site that the return
        address determines.

        Raises `EvaluationError` if the return address is given as a location that cannot be read.
        """
        pc = None
        column = self.architecture.return_address_register
        if column is not None and column in self.entry_registers:
            size = self.architecture.register_size(column) or 8
            pc = self.entry_register_location(column).read(8 * size) - 1
        return CallerContext(self, self.entry_register_location, pc)

    def call_site_value(self, parameter: int) -> ExpressionLike | None:
        """The DW_AT_call_value of a parameter (A.3.4.2): from `call_site_values`, else None."""
        return self.call_site_values.get(parameter)

    # Memory

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """`size` bytes (A.2.5.4.4.3), from `memory`; `EvaluationError` where it has none."""
        return self.memory.read(space, address, size, lane)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Replace bytes of `memory` (A.2.5.4.4.3); `EvaluationError` where it has none."""
        self.memory.write(space, address, data, lane)

    def tls_location(self, address: int) -> LocationDescription:
        """Always an `EvaluationError`: this context has no thread-local storage (A.2.5.4.4.3)."""
        raise EvaluationError(f"{self.architecture.name} has no thread-local storage")

    # The compilation unit

    def indexed_address(self, index: int) -> int:
        """An entry of `debug_addr` (A.2.5.4.3.1); `IllFormed` beyond it, `EvaluationError` if there is none at all."""
        if self.debug_addr is None:
            raise EvaluationError("an indexed address needs .debug_addr, and there is none")
        if index >= len(self.debug_addr):
            raise IllFormed(missing_address(index, len(self.debug_addr)))
        return self.debug_addr[index]

    def die(self, offset: int, unit_relative: bool) -> tuple[DieContent, Context]:
        """What the entry offers according to `dies`, and this context (A.2.5.4.2). There is one unit, at offset 0 of
        .debug_info.

        Raises `IllFormed` where there is no entry, `EvaluationError` if there are no `dies` at all.
        """
        if self.dies is None:
            raise EvaluationError("a debugging information entry is needed, and there is no compilation unit")
        if offset not in self.dies:
            raise IllFormed(f"there is no debugging information entry at {offset:#x}")
        return self.dies[offset], self
