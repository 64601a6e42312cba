"""The result of the reader: a module with its globals, functions and metadata.

Names keep their sigil (`%x`, `@g`, `$exec`), without quotes; metadata is named by what follows the `!`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from rocdbg.llvmdi.datalayout import DataLayout
from rocdbg.llvmdi.errors import Position
from rocdbg.llvmdi.llvm_lexer import Source
from rocdbg.llvmdi.llvm_types import Type

__all__ = [
    "Attachment",
    "Block",
    "Field",
    "Function",
    "GlobalVariable",
    "Instruction",
    "Module",
    "Node",
    "Operand",
    "Parameter",
    "RawOperation",
    "Ref",
    "Text",
    "Words",
]


class Operand(Struct, frozen=True):
    """A typed operand of LLVM: an entity (`i64 %x`), a constant, or neither.

    `kind` is "entity" (with its `name`), "constant" (with its bits in `value`, unsigned), "undef" (poison and MIR's
    `$noreg` too), "elided" (the `...` of the specification's listings), "aggregate" (constants in `elements`, placed by
    the data layout) or "other" (a constant expression).
    """

    kind: str
    type: Type | None
    text: str
    name: str = ""
    value: int = 0
    offset: int = 0
    elements: tuple[Operand, ...] = ()

    def __str__(self) -> str:
        return self.text if self.type is None else f"{self.type} {self.text}"


class Ref(Struct, frozen=True):
    """A reference to metadata: `!12`, `!pc.fragment`."""

    name: str
    offset: int = 0

    def __str__(self) -> str:
        return f"!{self.name}"


class Text(Struct, frozen=True):
    """A metadata string, or a string as the value of a field."""

    text: str


class Words(Struct, frozen=True):
    """Identifiers: `DW_TAG_pointer_type`, `DIFlagA | DIFlagB`, `true`."""

    text: str


class RawOperation(Struct, frozen=True):
    """An operation of an expression as it is written: `DIOpArg(0, i32)` or `DW_OP_constu, 5`."""

    name: str
    arguments: tuple[int | Type | Operand | str, ...]
    offset: int = 0


@dataclass(frozen=True)
class Node:
    """A metadata node. `kind` is "DILifetime" and so on, or "" for a tuple, whose items are `elements`.

    Expressions (`DIExpr`, `DIExpression`) have `operations`; `DIArgList` has operands as elements. Identity is that
    of the Python object: nodes are compared by `is`.
    """

    kind: str
    fields: Mapping[str, Field]
    elements: tuple[Field, ...] = ()
    operations: tuple[RawOperation, ...] = ()
    distinct: bool = False
    offset: int = 0
    name: str = ""
    """Its name in the text, or "" if it is written in place."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


Field = Node | Ref | Text | Words | Operand | int | tuple["Field", ...] | None


class Attachment(Struct, frozen=True):
    """`!dbg !5` on an instruction, a function or a global variable."""

    kind: str
    value: Field


@dataclass(frozen=True, eq=False)
class Instruction:
    """An instruction, or a debug record between instructions.

    `debug` is "value", "declare", "assign", "label", "def" or "kill" for debug records, whose `arguments` are operands
    and metadata in any notation; otherwise "". `targets` are the labels at which control may continue; a `terminator`
    ends its block. `type` is that of the result, if known.
    """

    opcode: str
    name: str = ""
    type: Type | None = None
    debug: str = ""
    arguments: tuple[Field, ...] = ()
    targets: tuple[str, ...] = ()
    terminator: bool = False
    attachments: tuple[Attachment, ...] = ()
    offset: int = 0
    end: int = 0
    allocated: Type | None = None
    """The type that an `alloca` allocates."""

    @property
    def is_debug(self) -> bool:
        """Whether it takes no space in code."""
        return bool(self.debug)


@dataclass(eq=False)
class Block:
    """A basic block: `label` without sigil."""

    label: str
    instructions: list[Instruction] = field(default_factory=list)
    offset: int = 0


class Parameter(Struct, frozen=True):
    """A parameter of a function."""

    name: str
    type: Type


@dataclass(eq=False)
class Function:
    """A function with a body, or a declaration. Instructions are numbered through all blocks in order of the text."""

    name: str
    result: Type | None
    parameters: tuple[Parameter, ...] = ()
    blocks: list[Block] = field(default_factory=list)
    attachments: tuple[Attachment, ...] = ()
    offset: int = 0
    pseudo: bool = False
    """Instructions outside any function, as in the specification's listings."""

    @property
    def instructions(self) -> Iterator[Instruction]:
        """All of them in order."""
        for block in self.blocks:
            yield from block.instructions


class GlobalVariable(Struct, frozen=True):
    """A global variable: `type` is the type of its contents, `space` its address space."""

    name: str
    type: Type | None
    space: int = 0
    attachments: tuple[Attachment, ...] = ()
    offset: int = 0


@dataclass(eq=False)
class Module:
    """A whole text."""

    source: Source
    layout: DataLayout
    triple: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    """Metadata by name: numbers, and the names that the specification's pseudo code gives to unnamed metadata."""
    named: dict[str, Node] = field(default_factory=dict)
    """Named metadata: `llvm.dbg.cu` and so on."""
    globals: dict[str, GlobalVariable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    spellings: list[tuple[int, str]] = field(default_factory=list)
    """Where a listing contradicts the specification's definitions, and how it was interpreted: (offset, message)."""

    faults: list[tuple[int, str, bool]] = field(default_factory=list)
    """Metadata that LLVM would reject: (offset, message, whether listings, which are incomplete, also contain it)."""

    def resolve(self, value: Field) -> Field:
        """The metadata to which a reference refers, or None if there is none; everything else is returned unchanged."""
        if isinstance(value, Ref):
            return self.nodes.get(value.name) or self.named.get(value.name)
        return value

    def node(self, value: Field, *kinds: str) -> Node | None:
        """The node that a field is or refers to, if it is of one of the kinds."""
        found = self.resolve(value)
        return found if isinstance(found, Node) and (not kinds or found.kind in kinds) else None

    def all_nodes(self) -> Iterator[Node]:
        """Every node, including those written in place inside others; outer ones first."""
        seen: set[int] = set()
        pending: list[Field] = [*self.nodes.values(), *self.named.values()]
        pending += [a.value for function in self.functions.values() for a in function.attachments]
        pending += [a.value for variable in self.globals.values() for a in variable.attachments]
        for function in self.functions.values():
            for instruction in function.instructions:
                pending += instruction.arguments
        pending.reverse()
        while pending:
            item = pending.pop()
            if isinstance(item, tuple):
                pending += reversed(item)
            elif isinstance(item, Node) and id(item) not in seen:
                seen.add(id(item))
                yield item
                pending += reversed([*item.fields.values(), *item.elements])

    def items(self, value: Field) -> tuple[Field, ...]:
        """The items of a tuple: `{!1, !2}` or a tuple node; nothing for anything else."""
        found = self.resolve(value)
        if isinstance(found, tuple):
            return found
        return found.elements if isinstance(found, Node) and not found.kind else ()

    def position(self, offset: int) -> Position:
        """The position of a character."""
        return self.source.position(offset)
