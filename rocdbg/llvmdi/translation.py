"""Upstream's `!DIExpression` of DWARF operations, translated into DIOps.

DWARF's operations calculate with untyped numbers as wide as an address, and so does the translation, in i64: narrower
values are zero-extended, and the result is truncated to the variable's size. The `DW_OP_constu N, DW_OP_swap,
DW_OP_xderef` that AMDGPU's front ends write names an address space and does not load anything; the pointer's own type
determines the space.
"""

from __future__ import annotations

from rocdbg.llvmdi.di_expressions import MAX_OPERATIONS, Expression, Operation
from rocdbg.llvmdi.di_operations import OPERATIONS
from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.llvm_types import FloatType, IntType, PointerType, Type, VectorType
from rocdbg.llvmdi.module import Module, Node, Operand, RawOperation

__all__ = ["translate"]

_WORD = IntType(64)
_BINARY = {
    "DW_OP_plus": "DIOpAdd", "DW_OP_minus": "DIOpSub", "DW_OP_mul": "DIOpMul", "DW_OP_div": "DIOpDiv",
    "DW_OP_mod": "DIOpMod", "DW_OP_and": "DIOpAnd", "DW_OP_or": "DIOpOr", "DW_OP_xor": "DIOpXor",
    "DW_OP_shl": "DIOpShl", "DW_OP_shr": "DIOpLShr", "DW_OP_shra": "DIOpAShr",
}  # fmt: skip


def translate(
    module: Module, node: Node, operands: list[Operand], bits: int | None, is_address: bool
) -> Expression:
    """The DIOps of an expression over `operands`; `bits` is the variable's size, None where it is not known.

    `is_address` says that the operand points to the variable (`#dbg_declare`). Raises `NotWellFormed` for operations
    that have no translation.
    """
    if len(node.operations) > MAX_OPERATIONS:
        raise NotWellFormed(f"an expression of more than {MAX_OPERATIONS} operations", module.position(node.offset))
    return _Translation(module, node, operands, bits, is_address).expression()


class _Translation:
    """The translation of one expression. `types` holds the types of the current stack entries."""

    def __init__(
        self, module: Module, node: Node, operands: list[Operand], bits: int | None, is_address: bool
    ) -> None:
        self.module = module
        self.node = node
        self.operands = operands
        self.bits = bits
        self.is_address = is_address
        self.out: list[Operation] = []
        self.types: list[Type] = []
        self.fragment: tuple[int, int] | None = None
        self.is_value = False

    def wrong(self, raw: RawOperation, words: str = "has no translation into DIOps") -> NotWellFormed:
        return NotWellFormed(f"{raw.name[:40]} {words}", self.module.position(raw.offset), raw.name)

    def add(self, name: str, *arguments: int | Type | Operand, takes: int = 0, gives: Type | None = None) -> None:
        self.out.append(Operation(OPERATIONS[name], arguments, self.node.offset))
        if takes:
            del self.types[-takes:]
        if gives is not None:
            self.types.append(gives)

    def constant(self, number: int) -> None:
        text = str(number)
        value = number & (1 << 64) - 1
        self.add("DIOpConstant", Operand("constant", _WORD, text, value=value), gives=_WORD)

    # The stack

    def push(self, index: int, raw: RawOperation | None = None) -> None:
        if index >= len(self.operands):
            where = raw.offset if raw is not None else self.node.offset
            raise NotWellFormed(
                f"there is no operand {index}: the record has "
                f"{len(self.operands)}", self.module.position(where), "DW_OP_LLVM_arg"
            )
        type = self.operands[index].type
        if type is None:
            raise NotWellFormed("an operand has no type", self.module.position(self.node.offset), "DIArgList")
        self.add("DIOpArg", index, type, gives=type)

    def widen(self, entry_type: Type) -> None:
        """Convert the top entry to a number as wide as an address, with which DWARF's arithmetic works: reinterpret its
        bits as an integer, and zero-extend them.
        """
        type = self.module.layout.resolved(entry_type)
        if type == _WORD:
            return
        size = self.module.layout.bits(type)
        if not isinstance(type, IntType | FloatType | PointerType | VectorType) or size > 64:
            raise NotWellFormed(
                f"DWARF operations cannot be applied to a value of type {type}", self.module.position(self.node.offset)
            )
        if not isinstance(type, IntType):
            self.add("DIOpReinterpret", IntType(size), takes=1, gives=IntType(size))
        if size < 64:
            self.add("DIOpZExt", _WORD, takes=1, gives=_WORD)

    def number(self, raw: RawOperation) -> None:
        if not self.types:
            raise self.wrong(raw, "needs an entry on the stack")
        self.widen(self.types[-1])

    def expression(self) -> Expression:
        operations = self._without_space(list(self.node.operations))
        if not any(raw.name == "DW_OP_LLVM_arg" for raw in operations):
            self.push(0)
        index = 0
        while index < len(operations):
            raw = operations[index]
            following = operations[index + 1] if index + 1 < len(operations) else None
            index += 1
            if self.fragment is not None:
                raise self.wrong(raw, "follows DW_OP_LLVM_fragment")
            index += self._operation(raw, following)
        self._finish()
        return Expression(tuple(self.out), self.node.offset, self.fragment)

    @staticmethod
    def _without_space(operations: list[RawOperation]) -> list[RawOperation]:
        """The operations without those that name an address space."""
        found: list[RawOperation] = []
        for raw in operations:
            found.append(raw)
            if [item.name for item in found[-3:]] == ["DW_OP_constu", "DW_OP_swap", "DW_OP_xderef"]:
                del found[-3:]
        return found

    def _operation(self, raw: RawOperation, following: RawOperation | None) -> int:
        """Translate one operation; returns how many of the following operations are translated together with it."""
        name, arguments = raw.name, raw.arguments
        numbers = [item for item in arguments if isinstance(item, int)]
        if name == "DW_OP_LLVM_arg" and len(numbers) == 1:
            self.push(numbers[0], raw)
            if following is not None and following.name in ("DW_OP_LLVM_arg", "DW_OP_constu", "DW_OP_consts", *_BINARY):
                self.number(raw)
        elif name in ("DW_OP_constu", "DW_OP_consts") and len(numbers) == 1 and following is not None:
            return self._with_constant(numbers[0], following)
        elif name == "DW_OP_plus_uconst" and len(numbers) == 1:
            self._plus(numbers[0], raw)
        elif name in _BINARY and not arguments:
            self._binary(raw)
        elif name == "DW_OP_neg":
            self.number(raw)
            self.constant(-1)
            self.add("DIOpMul", takes=2, gives=_WORD)
        elif name == "DW_OP_not":
            self.number(raw)
            self.constant(-1)
            self.add("DIOpXor", takes=2, gives=_WORD)
        elif name == "DW_OP_deref" and self.types:
            self._deref(following)
        elif name == "DW_OP_stack_value":
            self.number(raw) if isinstance(self.types[-1] if self.types else None, PointerType) else None
            self.is_value = True
        elif name == "DW_OP_LLVM_convert" and len(arguments) == 2:
            self._convert(raw)
        elif name == "DW_OP_LLVM_fragment" and len(numbers) == 2:
            self.fragment = numbers[0], numbers[1]
        elif name.startswith("DW_OP_lit") and name[9:].isdecimal() and int(name[9:]) < 32:
            self.constant(int(name[9:]))
        else:
            raise self.wrong(raw)
        return 0

    def _with_constant(self, number: int, following: RawOperation) -> int:
        if self.is_address and following.name in ("DW_OP_plus", "DW_OP_minus"):
            self._plus(number if following.name == "DW_OP_plus" else -number, following)
            return 1
        if self.types and following.name in _BINARY:
            self.number(following)
        self.constant(number)
        return 0

    def _plus(self, number: int, raw: RawOperation) -> None:
        if not self.types:
            raise self.wrong(raw, "needs an entry on the stack")
        type = self.module.layout.resolved(self.types[-1])
        if self.is_address and isinstance(type, PointerType):
            # The offset applies to the location to which the pointer leads, not to the pointer.
            byte = IntType(8)
            self.add("DIOpDeref", byte, takes=1, gives=byte)
            self.constant(number)
            self.add("DIOpByteOffset", byte, takes=2, gives=byte)
            return
        self.number(raw)
        self.constant(number)
        self.add("DIOpAdd", takes=2, gives=_WORD)

    def _binary(self, raw: RawOperation) -> None:
        if len(self.types) < 2:
            raise self.wrong(raw, "needs two entries on the stack")
        below = self.types[-2]
        if self.module.layout.resolved(below) != _WORD:
            raise self.wrong(raw, f"has an operand of type {below}, which must first be widened to 64 bits")
        self.number(raw)
        self.add(_BINARY[raw.name], takes=2, gives=_WORD)

    def _deref(self, following: RawOperation | None) -> None:
        type = self.module.layout.resolved(self.types[-1])
        if isinstance(type, IntType) and type.bits == 64:
            self.add("DIOpReinterpret", PointerType(0), takes=1, gives=PointerType(0))
        elif not isinstance(type, PointerType):
            raise NotWellFormed(
                "DW_OP_deref cannot be applied to a value of type "
                f"{type}", self.module.position(self.node.offset), "DW_OP_deref"
            )
        last = following is None or following.name in ("DW_OP_LLVM_fragment",)
        if last and not self.is_address:
            self.is_address = True  # the variable is where the pointer leads, as with #dbg_declare
            return
        self.add("DIOpDeref", _WORD, takes=1, gives=_WORD)

    def _convert(self, raw: RawOperation) -> None:
        size, encoding = raw.arguments
        if not isinstance(size, int) or encoding not in ("DW_ATE_signed", "DW_ATE_unsigned") or not 0 < size <= 1 << 16:
            raise self.wrong(raw, "to anything but an integer cannot be translated")
        if not self.types:
            raise self.wrong(raw, "needs an entry on the stack")
        type = self.module.layout.resolved(self.types[-1])
        if not isinstance(type, IntType):
            raise self.wrong(raw, f"of a value of type {type} cannot be translated")
        target = IntType(size)
        if size > type.bits:
            # The first conversion of a pair states what the number was before, so its encoding determines how to
            # extend.
            name = "DIOpSExt" if encoding == "DW_ATE_signed" else "DIOpZExt"
            self.add(name, target, takes=1, gives=target)
        elif size < type.bits:
            self.add("DIOpConvert", target, takes=1, gives=target)

    def _finish(self) -> None:
        """End with the location of the variable: the memory to which the pointer leads, or a value of the variable's
        size.
        """
        bits = self.fragment[1] if self.fragment is not None else self.bits
        if not self.types:
            return
        type = self.module.layout.resolved(self.types[-1])
        if self.is_address and not self.is_value:
            target = IntType(bits) if bits is not None and 0 < bits <= 1 << 20 else IntType(8)
            if isinstance(type, PointerType):
                self.add("DIOpDeref", target, takes=1, gives=target)
            elif self.out[-1].name == "DIOpByteOffset":
                self.add("DIOpReinterpret", target) if bits == 8 else self._retype(target)
            return
        if self.is_value and isinstance(type, IntType) and bits is not None and 0 < bits < type.bits:
            self.add("DIOpConvert", IntType(bits), takes=1, gives=IntType(bits))

    def _retype(self, target: Type) -> None:
        """Give the result of the last offset another type."""
        self.out[-1] = Operation(self.out[-1].info, (target,), self.out[-1].offset)
