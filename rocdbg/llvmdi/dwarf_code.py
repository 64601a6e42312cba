"""Converts a typed tree to the operations of a DWARF expression.

For each node, the code gives its location or, where an operation calculates with it, its value, which has a DWARF base
type. It does not rely on implicit conversions, so an operation has the same meaning in every context.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rocdbg.dwarf.architecture import architecture_by_name
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.operation_assembler import Item, assemble
from rocdbg.dwarf.typed_values import BaseType
from rocdbg.llvmdi.datalayout import DataLayout
from rocdbg.llvmdi.di_expressions import Tree
from rocdbg.llvmdi.errors import EvaluationError, LoweringError
from rocdbg.llvmdi.llvm_constants import MAX_CONSTANT_BITS
from rocdbg.llvmdi.llvm_types import PointerType, VectorType
from rocdbg.llvmdi.module import Operand
from rocdbg.llvmdi.object_evaluator import ARITHMETIC, UNSIGNED
from rocdbg.llvmdi.placement import Constant, FrameAddress, Pieces, Placement, Register, Slot, Where
from rocdbg.llvmdi.target_types import base_type, bits_type, dwarf_space

__all__ = ["Code", "Names", "assembled"]

Items = list[Item]
MAX_ITEMS = 20_000
_MAX_PICK = 255
_DWORD = 32


class Names(Protocol):
    """Information that the code of one expression needs from the writer, which assigns offsets to entries."""

    def base(self, type: BaseType) -> int:
        """The entry of a base type."""
        ...

    def operand(self, tree: Tree) -> Operand | None:
        """The LLVM value that a DIOpReferrer, DIOpArg or DIOpConstant refers to; None for an object."""
        ...

    def where(self, name: str) -> Where:
        """The location of an entity; `LoweringError` if it is not known."""
        ...

    def object_location(self, tree: Tree) -> Items:
        """The location of the object that a DIOpArg refers to."""
        ...

    def address_index(self, tree: Tree) -> int | None:
        """The index into .debug_addr of the code location that a DIOpArg refers to; None for other arguments."""
        ...

    def global_address(self, tree: Tree) -> int | None:
        """The address of the global variable whose fragment a DIOpArg refers to; None for other arguments."""
        ...

    def is_list(self, entry: int) -> bool:
        """Whether an entry offers a location list, which is evaluated separately from its caller."""
        ...

    def pointee(self, tree: Tree) -> int:
        """The entry whose location is that of a tree, for an implicit pointer to it."""
        ...


def assembled(items: Items, dialect: str) -> bytes:
    """The bytes of operations; `LoweringError` for those that the dialect cannot write."""
    try:
        return assemble(*items, dialect=dialect)
    except DwarfError as error:
        raise LoweringError(error.reason) from None


class Code:
    """Writes the operations for trees of one expression."""

    def __init__(self, names: Names, layout: DataLayout, triple: str, placement: Placement) -> None:
        self.names = names
        self.layout = layout
        self.triple = triple
        self.placement = placement

    # Locations

    def location(self, tree: Tree) -> Items:
        """Operations that push the location of a tree; `LoweringError` if there are none."""
        method: Callable[[Tree], Items] = getattr(self, "_" + tree.name, self._computed)
        items = method(tree)
        if len(items) > MAX_ITEMS:
            raise LoweringError(f"the expression needs more than {MAX_ITEMS} DWARF operations")
        return items

    def _computed(self, tree: Tree) -> Items:
        return [*self.value(tree, self._base(tree)), "stack_value"]

    def _leaf(self, tree: Tree) -> Items:
        operand = self.names.operand(tree)
        if operand is not None:
            return self._operand(operand, tree)
        index = self.names.address_index(tree)
        if index is not None:
            return [("addrx", index), "stack_value"]
        address = self.names.global_address(tree)
        if address is not None:
            return [*self._constant(Constant(address, relocated=True), tree.bits), "stack_value"]
        return self.names.object_location(tree)

    _DIOpReferrer = _DIOpArg = _DIOpConstant = _leaf

    def _operand(self, operand: Operand, tree: Tree) -> Items:
        if operand.kind == "undef":
            return ["undefined"]
        if operand.kind == "constant":
            return self._implicit(operand.value, tree.bits)
        if operand.kind != "entity":
            raise LoweringError(f"the value of '{operand.text[:60]}' is not known")
        where = self.names.where(operand.name)
        room = self._room(where)
        if room is not None and room < tree.bits:
            raise LoweringError(f"{operand.name} has {tree.bits} bits, but its place has only {room}")
        return self._place(where, tree.bits)

    def _room(self, where: Where) -> int | None:
        """How many bits a place can hold; None if it is as large as necessary.

        The lane's dword of a vector register is followed by that of the next lane. A place that names a specific lane
        holds spilled data, which continues in the following lanes.
        """
        match where:
            case Register(number, offset, per_lane):
                if per_lane:
                    return _DWORD - offset
                size = architecture_by_name(self.placement.architecture).register_size(number)
                return None if size is None else 8 * size - offset
            case Pieces(parts):
                return sum(bits for _, bits in parts)
        return None

    def _implicit(self, value: int, bits: int) -> Items:
        _check_size(bits)
        if bits % 8 == 0:
            return [("implicit_value", value.to_bytes(bits // 8, "little"))]
        return [*self._literal(value, bits_type(bits)), "stack_value"]

    def _place(self, where: Where, bits: int) -> Items:
        match where:
            case Register(number, offset, per_lane):
                items: Items = [("regx", number)]
                if per_lane:
                    items += ["push_lane", "lit4", "mul", "offset"]
                if offset:
                    items.append(("offset_uconst", offset // 8) if offset % 8 == 0 else ("constu", offset))
                    items += ["bit_offset"] if offset % 8 else []
                return items
            case Slot(offset):
                return [("fbreg", offset)]
            case FrameAddress(offset):
                return [*self._frame_address(offset), ("convert", self.names.base(bits_type(bits))), "stack_value"]
            case Constant():
                return [*self._constant(where, bits), "stack_value"]
            case Pieces(parts):
                items = []
                for part, size in parts:
                    items += [*self._place(part, size), _piece(size)]
                return [*items, "piece_end"]
        raise LoweringError("the place of a value at this address is not known")

    def _frame_address(self, offset: int) -> Items:
        """The lane's address of a slot, as a number of the generic type."""
        placement = self.placement
        items: Items = [("regx", placement.frame_register), ("deref_size", 4)]
        if placement.frame_shift:
            items += [("constu", placement.frame_shift), "shr"]
        return [*items, ("consts", offset), "plus"]

    def _constant(self, where: Constant, bits: int) -> Items:
        """Operations that push a constant, which has a type unless it is as wide as an address."""
        if where.relocated and bits == 64:
            return [("addr", where.value & (1 << 64) - 1)]
        return self._literal(where.value & (1 << bits) - 1, bits_type(bits))

    def _literal(self, value: int, base: BaseType) -> Items:
        _check_size(8 * base.byte_size)
        if base.byte_size > 255:
            # The block of const_type must be short; that of an implicit value may be long.
            data = value.to_bytes(base.byte_size, "little")
            return [("implicit_value", data), *self._read(base)]
        return [("const_type", self.names.base(base), value.to_bytes(base.byte_size, "little"))]

    def _DIOpTypeObject(self, tree: Tree) -> Items:
        return ["push_object_address"]

    def _DIOpReinterpret(self, tree: Tree) -> Items:
        return self.location(tree.children[0])

    def _DIOpBitOffset(self, tree: Tree) -> Items:
        return self._moved(tree, "bit_offset", 1)

    def _DIOpByteOffset(self, tree: Tree) -> Items:
        return self._moved(tree, "offset", 8)

    def _moved(self, tree: Tree, meaning: str, scale: int) -> Items:
        place, amount = tree.children
        items = self.location(place)
        operand = self.names.operand(amount) if amount.name == "DIOpConstant" else None
        if operand is not None and operand.kind == "constant":
            number = operand.value - (1 << amount.bits if operand.value >> (amount.bits - 1) else 0)
            if number >= 0 and number * scale % 8 == 0:
                return [*items, ("offset_uconst", number * scale // 8)]
        return [*items, *self.value(amount, base_type(self.layout, amount.type)), meaning]

    def _DIOpComposite(self, tree: Tree) -> Items:
        codes = [self.location(child) for child in tree.children]
        if not codes:
            return ["undefined"]
        items: Items = []
        parts = [self._pieces_alone(code, child.bits) for code, child in zip(codes, tree.children, strict=True)]
        later = zip(parts[1:], codes[1:], strict=True)
        if all(part is not None or not self._makes_pieces(code) for part, code in later):
            for part, code, child in zip(parts, codes, tree.children, strict=True):
                items += [*code, _piece(child.bits)] if part is None else part
            return [*items, "piece_end"]
        if len(codes) <= _MAX_PICK:
            # The composite would be incomplete while later parts are computed, so compute all parts first and then pick
            # them.
            for code in codes:
                items += code
            for number, child in enumerate(tree.children):
                items += [("pick", len(codes) - 1 - number + (number > 0)), _piece(child.bits)]
            return [*items, "piece_end", *(["swap", "drop"] * len(codes))]
        raise LoweringError(
            f"a composite with {len(codes)} parts that are composites themselves cannot be expressed in DWARF"
        )

    def _makes_pieces(self, items: Items) -> bool:
        """Whether operations may create or complete pieces of a composite; a call may, because the called expression
        may.
        """
        for item in items:
            name = item if isinstance(item, str) else item[0]
            if name in ("piece", "bit_piece", "piece_end"):
                return True
            if name == "call_ref" and not self.names.is_list(int(item[1])):
                return True
        return False

    def _pieces_alone(self, items: Items, bits: int) -> Items | None:
        """Operations that create exactly one composite of this many bits, without completing it; None for other trees.
        """
        found = ends = 0
        for item in items:
            name, size = (item, 0) if isinstance(item, str) else item[:2]
            assert isinstance(size, int) or name not in ("piece", "bit_piece", "call_ref")
            if name == "piece_end":
                ends += 1
            elif name in ("piece", "bit_piece"):
                found += int(size) * (8 if name == "piece" else 1)
            elif name == "call_ref" and not self.names.is_list(int(size)):
                return None
        return items[:-1] if found == bits and ends == 1 and items[-1] == "piece_end" else None

    def _DIOpExtend(self, tree: Tree) -> Items:
        assert isinstance(tree.type, VectorType)
        child = tree.children[0]
        return [*self.location(child), ("extend", child.bits, tree.type.count)]

    def _DIOpSelect(self, tree: Tree) -> Items:
        type = self.layout.resolved(tree.type)
        assert isinstance(type, VectorType)
        zero, one, mask = tree.children
        return [
            *self.location(zero), *self.location(one), *self.value(mask, bits_type(mask.bits)),
            ("select_bit_piece", self.layout.bits(type.element), type.count),
        ]

    def _DIOpAddrOf(self, tree: Tree) -> Items:
        type = tree.type
        assert isinstance(type, PointerType)
        space = self._space(type)
        entry = self.names.pointee(tree.children[0])
        if space == 0:
            return [("implicit_pointer", entry, 0)]
        return [("constu", space) if space > 31 else f"lit{space}", ("aspace_implicit_pointer", entry, 0)]

    def _DIOpDeref(self, tree: Tree) -> Items:
        pointer = tree.children[0]
        if pointer.name == "DIOpAddrOf":
            return self.location(pointer.children[0])
        type = self.layout.resolved(pointer.type)
        assert isinstance(type, PointerType)
        operand = self.names.operand(pointer)
        space = self._space(type)
        address = self.names.global_address(pointer)
        if operand is not None and operand.kind == "entity":
            where = self.names.where(operand.name)
            if isinstance(where, FrameAddress):
                return [("fbreg", where.offset)]
            if isinstance(where, Constant):
                address = where.value
        if address is not None and space == 0 and pointer.bits == 64:
            return [("addr", address)]
        if address is not None:
            return [("constu", address), f"lit{space}", "form_aspace_address"]
        return [*self.value(pointer, bits_type(pointer.bits)), f"lit{space}", "form_aspace_address"]

    def _space(self, type: PointerType) -> int:
        try:
            return dwarf_space(self.triple, type.space)
        except EvaluationError as error:
            raise LoweringError(error.reason) from None

    def _DIOpRead(self, tree: Tree) -> Items:
        return [*self.value(tree.children[0], bits_type(tree.bits)), "stack_value"]

    # Values

    def _base(self, tree: Tree, signed: bool = True) -> BaseType:
        try:
            return base_type(self.layout, tree.type, signed=signed)
        except EvaluationError as error:
            raise LoweringError(error.reason) from None

    def value(self, tree: Tree, base: BaseType) -> Items:
        """Operations that push the value of a tree, as a typed value of `base`, which has the tree's size."""
        name = tree.name
        operand = self.names.operand(tree) if name in ("DIOpConstant", "DIOpReferrer", "DIOpArg") else None
        if operand is not None and operand.kind == "constant":
            return self._literal(operand.value, base)
        if operand is not None and operand.kind == "entity":
            where = self.names.where(operand.name)
            if isinstance(where, Register) and not where.offset and not where.per_lane and self._is_whole(where, base):
                return [("regval_type", where.number, self.names.base(base))]
        if name == "DIOpArg" and operand is None:
            index = self.names.address_index(tree)
            if index is not None:
                return [("addrx", index), ("reinterpret", self.names.base(base))]
            address = self.names.global_address(tree)
            if address is not None:
                return self._pointer(address, base)
        if name == "DIOpPushLane":
            return ["push_lane", ("convert", self.names.base(base))]
        if name == "DIOpRead":
            return self.value(tree.children[0], base)
        if name in ("DIOpConvert", "DIOpSExt", "DIOpZExt"):
            signed = name not in UNSIGNED
            target = self._base(tree, signed)
            source = self._base(tree.children[0], signed)
            items = self.value(tree.children[0], source)
            return [*items, ("convert", self.names.base(target)), *self._as(target, base)]
        if name in ARITHMETIC:
            own = self._base(tree, name not in UNSIGNED)
            second, top = tree.children
            return [*self.value(second, own), *self.value(top, own), ARITHMETIC[name], *self._as(own, base)]
        return [*self.location(tree), *self._read(base)]

    def _is_whole(self, where: Register, base: BaseType) -> bool:
        size = architecture_by_name(self.placement.architecture).register_size(where.number)
        return size is not None and 8 * size == base.size

    def _pointer(self, address: int, base: BaseType) -> Items:
        if base.size == 64:
            return [("addr", address), ("reinterpret", self.names.base(base))]
        return self._literal(address & (1 << base.size) - 1, base)

    def _read(self, base: BaseType) -> Items:
        if base.byte_size > 255:
            reason = f"the value has {base.size} bits, but DW_OP_deref_type reads at most {8 * 255}"
            raise LoweringError(reason)
        return [("deref_type", base.byte_size, self.names.base(base))]

    def _as(self, own: BaseType, wanted: BaseType) -> Items:
        return [] if own.same_as(wanted) else [("reinterpret", self.names.base(wanted))]


def _piece(bits: int) -> Item:
    return ("piece", bits // 8) if bits % 8 == 0 else ("bit_piece", bits, 0)


def _check_size(bits: int) -> None:
    """Reject a constant that is too large: a short text such as ``zeroinitializer`` may have a huge type."""
    if bits > MAX_CONSTANT_BITS:
        raise LoweringError(f"a constant has {bits} bits; the limit is {MAX_CONSTANT_BITS}")
