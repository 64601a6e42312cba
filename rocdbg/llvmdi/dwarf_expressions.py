"""`!DIExpression` with DWARF's operations: their names, numbers and operands, and the orders that LLVM permits."""

from __future__ import annotations

from rocdbg.dwarf.operation_table import OPERATIONS
from rocdbg.llvmdi.di_expressions import is_diop
from rocdbg.llvmdi.module import Node

__all__ = ["DWARF_NAMES", "ENCODINGS", "NUMBERED", "OPERANDS", "broken_expression"]

_LLVM_OPERATIONS = {
    "DW_OP_LLVM_fragment": (0x1000, 2), "DW_OP_LLVM_convert": (0x1001, 2), "DW_OP_LLVM_tag_offset": (0x1002, 1),
    "DW_OP_LLVM_entry_value": (0x1003, 1), "DW_OP_LLVM_implicit_pointer": (0x1004, 0), "DW_OP_LLVM_arg": (0x1005, 1),
    "DW_OP_LLVM_extract_bits_sext": (0x1006, 2), "DW_OP_LLVM_extract_bits_zext": (0x1007, 2),
}  # fmt: skip
"""LLVM's own operations: (number, count of operands)."""
OPERANDS = {
    **{name: count for name, (_, count) in _LLVM_OPERATIONS.items()},
    **{f"DW_OP_{name}": 1 for name in ("constu", "consts", "plus_uconst", "deref_size", "regx")},
    **{f"DW_OP_breg{number}": 1 for number in range(32)},
    **{f"DW_OP_reg{number}": 0 for number in range(32)},
    **{f"DW_OP_{name}": 0 for name in (
        "plus", "minus", "mul", "div", "mod", "or", "and", "xor", "shl", "shr", "shra", "deref", "xderef", "not", "neg",
        "abs", "dup", "over", "swap", "rot", "lit0", "stack_value", "push_object_address", "eq", "ne", "gt", "ge", "lt",
        "le",
    )},
    "DW_OP_bregx": 2,
    "DW_OP_LLVM_poisoned": 0,  # AMD's operation
}  # fmt: skip
"""The operations that a `!DIExpression` may have, and how many operands each takes."""
DWARF_NAMES = frozenset({info.name for info in OPERATIONS} | set(OPERANDS) | {"DW_OP_entry_value"})
"""Every operation name that LLVM's reader accepts."""
ENCODINGS = frozenset(
    f"DW_ATE_{name}" for name in (
        "address", "boolean", "complex_float", "float", "signed", "signed_char", "unsigned", "unsigned_char",
        "imaginary_float", "packed_decimal", "numeric_string", "edited", "signed_fixed", "unsigned_fixed",
        "decimal_float", "UTF", "UCS", "ASCII",
    )
)  # fmt: skip
NUMBERED = {info.code: info.name for info in OPERATIONS if info.extension is None and len(info.dialects) == 3} | {
    number: name for name, (number, _) in _LLVM_OPERATIONS.items()
}
"""Operations by number: `!DIExpression(34)` is `DW_OP_plus`."""


def broken_expression(node: Node) -> tuple[str, int] | None:
    """The problem of a `!DIExpression` with DWARF's operations, and where it is; None if there is none."""
    if node.kind != "DIExpression" or is_diop(node):
        return None
    operations = node.operations
    for index, raw in enumerate(operations):
        following = operations[index + 1] if index + 1 < len(operations) else None
        count = OPERANDS.get(raw.name)
        if count is None:
            return f"{raw.name[:40]} cannot be in a !DIExpression", raw.offset
        if count != len(raw.arguments):
            return f"{raw.name} takes {count} operands, not {len(raw.arguments)}", raw.offset
        if raw.name == "DW_OP_LLVM_fragment" and following is not None:
            return "DW_OP_LLVM_fragment must be the last operation", raw.offset
        if raw.name == "DW_OP_stack_value" and following is not None and following.name != "DW_OP_LLVM_fragment":
            return "DW_OP_stack_value must be last, or be followed only by DW_OP_LLVM_fragment", raw.offset
        if raw.name == "DW_OP_swap" and len(operations) == 1:
            return "DW_OP_swap needs two entries on the stack", raw.offset
        if raw.name == "DW_OP_LLVM_entry_value":
            first = index == 0 or (index == 1 and operations[0].name == "DW_OP_LLVM_arg")
            if not first or raw.arguments != (1,):
                return "DW_OP_LLVM_entry_value must cover one operation and be the first operation", raw.offset
        if raw.name.startswith(("DW_OP_reg", "DW_OP_breg")):
            return None  # LLVM ignores what follows
    return None
