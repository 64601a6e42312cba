"""Decoding of operation expressions into operations (A.2.5.4, A.7.7.1)."""

from __future__ import annotations

from msgspec import Struct

from rocdbg import work
from rocdbg.dwarf.cursor import Cursor
from rocdbg.dwarf.errors import DecodeError, DwarfError
from rocdbg.dwarf.operation_table import LLVM_USER, Operand, OperationInfo, operation_table

__all__ = ["Operation", "decode", "decode_prefix"]

_CONSTANTS = frozenset({
    "const1u", "const1s", "const2u", "const2s", "const4u", "const4s", "const8u", "const8s", "constu", "consts",
})  # fmt: skip


class Operation(Struct, frozen=True):
    """A decoded operation (A.7.7.1).

    `offset` is the byte offset of its code in the expression, `size` its length in bytes. `operands` are ints;
    blocks (`DW_OP_implicit_value`, `DW_OP_const_type`, `DW_OP_entry_value`) are bytes without their size.
    """

    offset: int
    info: OperationInfo
    operands: tuple[int | bytes, ...]
    size: int

    @property
    def name(self) -> str:
        """The operation's name in its dialect (A.7.7.1), for example "DW_OP_LLVM_push_lane"."""
        return self.info.name

    @property
    def code(self) -> int:
        """The operation code (A.7.7.1), 0xe9 for extension operations, whose own code follows `DW_OP_LLVM_user`."""
        return self.info.code

    @property
    def piece_bits(self) -> int:
        """The size in bits that a `DW_OP_piece` or `DW_OP_bit_piece` gives its piece (A.2.5.4.4.6)."""
        size = self.operands[0]
        assert isinstance(size, int)
        return size if self.info.meaning == "bit_piece" else 8 * size

    @property
    def register(self) -> int | None:
        """The number of the register that a `DW_OP_reg*` or `DW_OP_regx` names (A.2.5.4.4.4), None for others."""
        meaning = self.info.meaning
        if meaning == "regx":
            number = self.operands[0]
            return number if isinstance(number, int) else None
        return int(meaning[3:]) if meaning.startswith("reg") and meaning[3:].isdecimal() else None

    @property
    def literal(self) -> int | None:
        """The number that a `DW_OP_lit*` or a `DW_OP_const*` without a type pushes (A.2.5.4.2), None for others."""
        meaning = self.info.meaning
        if meaning.startswith("lit") and meaning[3:].isdecimal():
            return int(meaning[3:])
        number = self.operands[0] if meaning in _CONSTANTS else None
        return number if isinstance(number, int) else None


def _operand(cursor: Cursor, kind: Operand, address_size: int, offset_size: int) -> int | bytes:
    match kind:
        case Operand.ULEB | Operand.REGISTER | Operand.BASE_TYPE:
            return cursor.uleb()
        case Operand.SLEB:
            return cursor.sleb()
        case Operand.U1:
            return cursor.unsigned(1)
        case Operand.S1:
            return cursor.signed(1)
        case Operand.U2 | Operand.UNIT_DIE2:
            return cursor.unsigned(2)
        case Operand.S2 | Operand.BRANCH:
            return cursor.signed(2)
        case Operand.U4 | Operand.UNIT_DIE4:
            return cursor.unsigned(4)
        case Operand.S4:
            return cursor.signed(4)
        case Operand.U8:
            return cursor.unsigned(8)
        case Operand.S8:
            return cursor.signed(8)
        case Operand.ADDRESS:
            return cursor.unsigned(address_size)
        case Operand.SECTION_DIE:
            return cursor.unsigned(offset_size)
        case Operand.BLOCK | Operand.EXPRESSION:
            return cursor.take(cursor.uleb())
        case Operand.BLOCK1:
            return cursor.take(cursor.unsigned(1))


def decode_prefix(
    data: bytes, dialect: str = "amd", address_size: int = 8, offset_size: int = 4, limit: int | None = None
) -> tuple[list[Operation], DecodeError | None]:
    """The operations up to the end or to the first that cannot be decoded, and the error that stopped decoding.

    With a `limit`, decoding stops after `limit` + 1 operations.
    """
    plain, extended = operation_table(dialect)
    cursor = Cursor(data, what="expression")
    operations: list[Operation] = []
    end = len(data)
    while cursor.position < end and (limit is None or len(operations) <= limit):
        work.unit()
        start = cursor.position
        name: str | None = None
        try:
            code = cursor.unsigned(1)
            if code == LLVM_USER and extended:
                name = "DW_OP_LLVM_user"
                extension = cursor.uleb()
                info = extended.get(extension)
                if info is None:
                    raise DecodeError(f"unknown extension operation {extension:#x}")
            else:
                info = plain.get(code)
                if info is None:
                    raise DecodeError(f"unknown operation code {code:#x} in dialect '{dialect}'")
            name = info.name
            operands = tuple(_operand(cursor, kind, address_size, offset_size) for kind in info.operands)
        except DecodeError as error:
            return operations, DecodeError(error.reason, operation=name, offset=start)
        operations.append(Operation(start, info, operands, cursor.position - start))
    return operations, None


def decode(
    data: bytes, dialect: str = "amd", address_size: int = 8, offset_size: int = 4
) -> list[Operation]:
    """The operations of an expression (A.2.5.4).

    `address_size` is the size in bytes of an address in the default address space, `offset_size` (4 or 8) the DWARF
    format. Any byte string either decodes or raises `DecodeError` with the offset of the operation concerned.
    """
    if address_size not in (1, 2, 4, 8) or offset_size not in (4, 8):
        raise DwarfError(f"address size {address_size} or offset size {offset_size} is not supported")
    operations, error = decode_prefix(bytes(data), dialect, address_size, offset_size)
    if error is not None:
        raise error
    return operations
