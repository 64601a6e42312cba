"""A second opinion on the locations of variables: llvm-dwarfdump's text, evaluated by hand for one lane."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rocdbg import isa
from rocdbg.debugger import Session
from rocdbg.dwarf.info import Exprloc

_DIE = re.compile(r"^(0x[0-9a-f]{8}): +DW_TAG_(\w+)")
_PLAIN = re.compile(r"^\s+DW_AT_location\s+\((DW_OP.*)\)$")
_LIST = re.compile(r"^\s+DW_AT_location\s+\(.*loclist")
_ENTRY = re.compile(r"^\s+\[(0x[0-9a-f]+), (0x[0-9a-f]+)\): (.*?)\)?$")
_BASED = re.compile(r"DW_OP_bregx (VGPR|AGPR|SGPR|VCC|EXEC)(?:_LO)?(\d*)([+-]\d+)")
_WAVE32 = re.compile(r"DW_OP_bregx (0x[0-9a-f]+) ([+-]\d+)")  # llvm-dwarfdump has no names for these
_MASKED = ["DW_OP_constu 0xffff", "DW_OP_and"]
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Located:
    """The entries of one variable: (low, high, expression); high is 0 for everywhere."""

    entries: tuple[tuple[int, int, str], ...]

    @property
    def is_static(self) -> bool:
        """Whether it is at one address for all lanes."""
        return any("DW_OP_addr" in text for _, _, text in self.entries)

    def at(self, pc: int) -> str | None:
        """The expression in force at an address of the file."""
        for low, high, text in self.entries:
            if high == 0 or low <= pc < high:
                return text
        return None


def read_locations(path: Path) -> dict[int, Located]:
    """The locations of all variables and parameters of a file, by the offset of their entry."""
    text = subprocess.run(
        ["llvm-dwarfdump-22", "--debug-info", str(path)], check=True, capture_output=True, text=True
    ).stdout
    found: dict[int, list[tuple[int, int, str]]] = {}
    current = 0
    in_list = False
    for line in text.splitlines():
        if match := _DIE.match(line):
            current, in_list = int(match[1], 16), False
        elif match := _PLAIN.match(line):
            found[current] = [(0, 0, match[1])]
        elif _LIST.match(line):
            in_list = True
            found[current] = []
        elif in_list and (match := _ENTRY.match(line)):
            found[current].append((int(match[1], 16), int(match[2], 16), match[3]))
        elif "DW_AT_" in line:
            in_list = False
    return {offset: Located(tuple(entries)) for offset, entries in found.items()}


def _named(word: str) -> str:
    match = _WAVE32.fullmatch(word)
    if match is None:
        return word
    number = int(match[1], 16)
    return f"DW_OP_bregx {'VGPR' if number < 2048 else 'AGPR'}{number % 512}{match[2]}"


def instructions(session: Session) -> list[int]:
    """The addresses of all instructions of a session's program."""
    program = session.inferior.need_program()
    text = program.code_object.sections[".text"]
    target = program.code_object.target.name
    found = isa.disassemble(text.data, target, address=text.address, wave_size=program.wave_size)
    return [instruction.address for instruction in found]


class ByHand:
    """Evaluates upstream clang's expressions for one lane, directly from the text of llvm-dwarfdump."""

    def __init__(self, session: Session, thread: int, lane: int, frame_base: Exprloc | None) -> None:
        assert session.inferior.target is not None
        self.target = session.inferior.target
        self.wave = next(w for w in session.inferior.target.dispatch.waves if w.number == thread)  # type: ignore[attr-defined]
        self.thread, self.lane = thread, lane
        self.frame_base = frame_base.data if frame_base is not None else b""
        self.flat_scratch = session.inferior.need_program().code_object.target.name in ("gfx942", "gfx1100")

    def read(self, text: str, size: int) -> bytes | None:
        """The bytes of a variable; ``None`` if a part of it does not exist."""
        data = b""
        operations: list[str] = []
        pieces = False
        for word in [_named(w.strip()) for w in text.split(", ")]:
            if word.startswith(("DW_OP_piece", "DW_OP_bit_piece")):
                size_of_piece = int(word.split()[1], 16)
                if word.startswith("DW_OP_bit_piece"):
                    assert size_of_piece % 8 == 0
                    size_of_piece //= 8
                part = self._part(operations, size_of_piece)
                if part is None:
                    return None
                data, operations, pieces = data + part, [], True
            else:
                operations.append(word)
        return data[:size] if pieces else self._part(operations, size)

    def _part(self, words: list[str], size: int) -> bytes | None:
        if not words:
            return None
        is_value = words[-1] == "DW_OP_stack_value"
        if is_value:
            words = words[:-1]
        assert words[-2:] == ["DW_OP_swap", "DW_OP_xderef"], words
        space, body = int(words[-3].removeprefix("DW_OP_lit")), words[:-3]
        if is_value:
            return (self._compute(body) & (1 << 8 * size) - 1).to_bytes(size, "little")
        if based := _BASED.fullmatch(body[0]):
            assert int(based[3]) == 0, body
            value, known = self._register(based[1], int(based[2] or 0)), 4
            if body[1:] in (_MASKED, ["DW_OP_lit16", "DW_OP_shr", *_MASKED]):
                value, known = value >> 16 * (len(body) == 5) & 0xFFFF, 2
            else:
                assert len(body) == 1, body
            return value.to_bytes(4, "little")[:size] if size <= known else None
        if body[0].startswith("DW_OP_fbreg"):
            assert len(body) == 1, body
            address = self._base() + int(body[0].split()[1])
            return self.target.read_memory(5, address, size, self.thread, self.lane)
        raise AssertionError(f"{body} in space {space}")

    def _base(self) -> int:
        if not self.frame_base:
            return 0
        value = self._register("SGPR", {b"\x90\x40": 32, b"\x90\x41": 33}[self.frame_base])
        return value if self.flat_scratch else value // self.wave.wave_size

    def _register(self, file: str, index: int) -> int:
        match file:
            case "VGPR":
                return int(self.wave.vgpr(index)[self.lane])
            case "AGPR":
                return int(self.wave.agpr(index)[self.lane])
            case "SGPR":
                return int(self.wave.sgpr(index))
            case "VCC":
                return int(self.wave.vcc)
        return int(self.wave.exec)

    def _compute(self, words: list[str]) -> int:
        stack: list[int] = []
        for word in words:
            name, _, operand = word.removeprefix("DW_OP_").partition(" ")
            if based := _BASED.fullmatch(word):
                stack.append(self._register(based[1], int(based[2] or 0)) + int(based[3]))
            elif re.fullmatch(r"lit\d+", name):
                stack.append(int(name[3:]))
            elif name in ("consts", "constu", "const1u", "const1s", "const2u", "const2s", "const4u", "const4s"):
                stack.append(int(operand, 0))
            elif name == "plus_uconst":
                stack[-1] += int(operand, 0)
            elif name == "convert":
                bits = int(re.search(r"_(\d+)\"?$", operand)[1])  # type: ignore[index]
                value = stack[-1] & (1 << bits) - 1
                signed = "_signed_" in operand and value >> bits - 1
                stack[-1] = value - (1 << bits) if signed else value
            elif name in _BINARY:
                b, a = stack.pop(), stack.pop()
                stack.append(_BINARY[name](a, b))
            elif name in ("neg", "not"):
                stack[-1] = -stack[-1] if name == "neg" else ~stack[-1]
            else:
                raise AssertionError(f"{word} in {words}")
        return stack[-1] & _MASK


_BINARY = {
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b if b < 64 else 0,
    "shr": lambda a, b: (a & _MASK) >> b,
    "shra": lambda a, b: (a - (1 << 64) if a >> 63 == 1 else a) >> b,
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
}
