"""Functions, inlined calls, blocks, and the variables in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from rocdbg.addresses import FileAddress
from rocdbg.dwarf.info.attribute_values import (
    Address,
    AttributeValue,
    Block,
    Constant,
    Exprloc,
    Flag,
    Location,
    Loclist,
    String,
)
from rocdbg.dwarf.info.code_ranges import ranges_of
from rocdbg.dwarf.info.constants import At, Convention, Inline, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.memory_spaces import in_memory_space
from rocdbg.dwarf.info.model import AddressRange, SourceFile
from rocdbg.dwarf.info.name_matching import spelled
from rocdbg.dwarf.info.types import FunctionType, TemplateArgument, Type
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.info.unit_index import NAMED_TYPE_TAGS

_VARIABLE_TAGS = frozenset({Tag.VARIABLE, Tag.FORMAL_PARAMETER, Tag.CONSTANT})
_CALL_SITE_TAGS = frozenset({Tag.CALL_SITE, Tag.GNU_CALL_SITE})
_PARAMETER_TAGS = frozenset({Tag.CALL_SITE_PARAMETER, Tag.GNU_CALL_SITE_PARAMETER})
_DEEPEST = 512


class Entity:
    """A named entity with an entry (``die``); attributes are looked up through specification and abstract origin.

    Two entities are equal when they are the same entry.
    """

    def __init__(self, die: Die) -> None:
        self.die = die

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Entity) and self.die == other.die

    def __hash__(self) -> int:
        return hash(self.die)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.qualified_name or ''} at {self.offset:#x}>"

    @property
    def unit(self) -> Unit:
        """The unit it is described in."""
        return self.die.unit

    @property
    def offset(self) -> int:
        """Offset of the entry in ``.debug_info``; identifies the entity."""
        return self.die.offset

    def attribute(self, code: int) -> AttributeValue | None:
        """Attribute ``code`` (see ``constants.At``; vendor codes as numbers), also from the entry's
        origins."""
        return self.die.find(code)

    def _string(self, *codes: int) -> str | None:
        for code in codes:
            value = self.die.find(code)
            if isinstance(value, String):
                return value.value
        return None

    def _number(self, code: int) -> int | None:
        value = self.die.find(code)
        return value.value if isinstance(value, Constant) else None

    def _flag(self, code: int) -> bool:
        value = self.die.find(code)
        return isinstance(value, Flag) and value.value

    def _file(self, code: int) -> SourceFile | None:
        for die in self.die.origins():
            value = die.attribute(code)
            if isinstance(value, Constant):
                return die.unit.file(value.value)
        return None

    @cached_property
    def name(self) -> str | None:
        """Source name without scopes (``add``, ``kern<2>``); None when anonymous."""
        return self.die.name

    @cached_property
    def scope_names(self) -> tuple[str, ...]:
        """Names of the namespaces and classes around it, outermost first."""
        *_, declaration = self.die.origins()
        return enclosing_names(declaration)

    @cached_property
    def qualified_name(self) -> str | None:
        """Name with namespaces and classes: ``ns::S<float, 3>::get``."""
        return None if self.name is None else self.unit.entries.qualified((*self.scope_names, self.name))

    @cached_property
    def linkage_name(self) -> str | None:
        """Mangled name, the one in the symbol table; None where the producer gives none.

        In C and OpenCL C the symbol is then ``name``.
        """
        return self._string(At.LINKAGE_NAME, At.MIPS_LINKAGE_NAME)

    @cached_property
    def decl_file(self) -> SourceFile | None:
        """File of the declaration."""
        return self._file(At.DECL_FILE)

    @cached_property
    def decl_line(self) -> int | None:
        """Line of the declaration, from 1; None when not given."""
        return self._number(At.DECL_LINE)

    @property
    def external(self) -> bool:
        """Whether it is visible outside its unit."""
        return self._flag(At.EXTERNAL)

    @property
    def artificial(self) -> bool:
        """Whether the compiler made it, so that it is not in the source."""
        return self._flag(At.ARTIFICIAL)


def enclosing_names(die: Die) -> tuple[str, ...]:
    """Names of the namespaces and classes around an entry, outermost first."""
    known = die.unit.entries.scope_names
    around: list[Die] = []
    parent = die.parent
    while parent is not None and parent.offset not in known:
        around.append(parent)
        parent = parent.parent
    names = () if parent is None else known[parent.offset]
    for scope in reversed(around):
        name = _scope_name(scope)
        if scope.tag == Tag.SUBPROGRAM:  # declarations in a function do not belong to a namespace
            names = ()
        names = names if name is None else (*names, name)
        known[scope.offset] = names
    return names


def _scope_name(die: Die) -> str | None:
    """The component that an entry adds to the names of its children; None for nothing."""
    tag = die.tag
    if tag not in NAMED_TYPE_TAGS and tag not in (Tag.NAMESPACE, Tag.MODULE):
        return None
    name = die.find(At.NAME)
    if isinstance(name, String):
        return spelled(name.value) if tag != Tag.ENUMERATION_TYPE or die.has(At.ENUM_CLASS) else None
    return "(anonymous namespace)" if tag == Tag.NAMESPACE else None


class Variable(Entity):
    """A variable, parameter or constant."""

    @property
    def is_parameter(self) -> bool:
        """Whether it is a formal parameter of the enclosing function."""
        return self.die.tag == Tag.FORMAL_PARAMETER

    @property
    def declaration(self) -> bool:
        """Whether the variable is only declared here."""
        value = self.die.attribute(At.DECLARATION)
        return isinstance(value, Flag) and value.value

    @cached_property
    def type(self) -> Type:
        """The variable's type, qualified by its memory space if the producer states one."""
        found = self.unit.entries.types.type_of(self.die)
        return in_memory_space(found, self.memory_space, self.unit.language_name)

    @property
    def memory_space(self) -> int | None:
        """The variable's memory space in the source language (DW_AT_LLVM_memory_space); None: the default one."""
        for code in (At.LLVM22_MEMORY_SPACE, At.AMD_MEMORY_SPACE):
            if (found := self._number(code)) is not None:
                return found
        return None

    @cached_property
    def location(self) -> Location | None:
        """DW_AT_location (``Exprloc`` or ``Loclist``), else DW_AT_const_value (``Constant``, ``Block``,
        ``String``).

        None: the compiler kept neither. For a local variable that is "optimized out"; a variable in LDS
        (``__shared__``, ``local``) has no location either, and is found by ``linkage_name`` or ``name`` as a symbol.
        Read the ``Constant`` of a signed type with ``signed_value(type.size)``.
        """
        for code in (At.LOCATION, At.CONST_VALUE):
            value = self.die.find(code)
            if isinstance(value, Exprloc | Loclist | Constant | Block | String | Address):
                return value
        return None


class Label(Struct, frozen=True):
    """A ``goto`` label that has code, or a label of assembly; ``file`` and ``line`` are those of its name."""

    name: str
    address: FileAddress
    line: int | None
    file: SourceFile | None = None


class Scope(Entity):
    """Something with code and variables: a ``Function``, an ``InlinedSubroutine`` or a ``LexicalBlock``."""

    @cached_property
    def ranges(self) -> tuple[AddressRange, ...]:
        """The code, in the order of the debug information; empty when there is none."""
        return ranges_of(self.die)

    @property
    def low_pc(self) -> FileAddress | None:
        """Lowest address of the code."""
        return min((part.low for part in self.ranges), default=None)

    @property
    def high_pc(self) -> FileAddress | None:
        """End (exclusive) of the highest range."""
        return max((part.high for part in self.ranges), default=None)

    @property
    def entry_pc(self) -> FileAddress | None:
        """Where execution enters the scope: DW_AT_entry_pc, else the start of the first range; None without code."""
        if not self.ranges:
            return None
        value = self.die.attribute(At.ENTRY_PC)
        if isinstance(value, Address):
            return FileAddress(value.value)
        if isinstance(value, Constant):  # DWARF 5: an offset from the start
            return FileAddress(self.ranges[0].low + value.value)
        return self.ranges[0].low

    def contains(self, pc: int) -> bool:
        """Whether ``pc`` is in the scope's code."""
        return any(pc in part for part in self.ranges)

    @cached_property
    def _members(self) -> list[Die]:
        """The entries directly in this scope, and those of its origin of which there is no instance in this scope."""
        own = [die for child in self.die.children for die in _with_common(child)]
        origin = self.die.reference(At.ABSTRACT_ORIGIN)
        if origin is None or origin == self.die:
            return own
        instances = {die.reference(At.ABSTRACT_ORIGIN): die for die in own if die.has(At.ABSTRACT_ORIGIN)}
        merged: list[Die] = []
        for abstract in origin.children:
            if abstract.tag in _VARIABLE_TAGS:
                merged.append(instances.pop(abstract, abstract))
            elif abstract.tag in NAMED_TYPE_TAGS:
                merged.append(abstract)
        placed = set(merged)
        return merged + [die for die in own if die not in placed]

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Parameters and variables declared directly in this scope, in source order.

        Variables that the compiler dropped from this instance of an inlined function are included, without a location.
        """
        return tuple(Variable(die) for die in self._members if die.tag in _VARIABLE_TAGS)

    @cached_property
    def common_blocks(self) -> tuple[CommonBlock, ...]:
        """The common blocks that are declared or included directly in this scope."""
        found = (_common_block(child) for child in self.die.children)
        return tuple(
            CommonBlock(die.name or _BLANK, tuple(map(Variable, _variables_in(die))))
            for die in found if die is not None
        )

    @cached_property
    def parameters(self) -> tuple[Variable, ...]:
        """The formal parameters, in order."""
        return tuple(variable for variable in self.variables if variable.is_parameter)

    @property
    def labels(self) -> Iterator[Label]:
        """The labels directly in this scope that have code."""
        for die in self.die.children:
            value = die.attribute(At.LOW_PC) if die.tag == Tag.LABEL else None
            if isinstance(value, Address) and die.name is not None:
                number = die.number(At.DECL_FILE)
                file = self.unit.file(number) if number is not None else None
                yield Label(die.name, FileAddress(value.value), die.number(At.DECL_LINE), file)

    @cached_property
    def types(self) -> tuple[Type, ...]:
        """Named types declared directly in this scope."""
        types = self.unit.entries.types
        return tuple(types.read(die) for die in self._members if die.tag in NAMED_TYPE_TAGS)

    @cached_property
    def children(self) -> tuple[Scope, ...]:
        """Blocks and inlined calls directly in this scope."""
        found: list[Scope] = []
        for die in self._members:
            if die.tag == Tag.LEXICAL_BLOCK:
                found.append(LexicalBlock(die))
            elif die.tag == Tag.INLINED_SUBROUTINE:
                found.append(InlinedSubroutine(die))
        return tuple(found)

    def chain_at(self, pc: int) -> list[Scope]:
        """This scope and the scopes inside it that contain ``pc``, outermost first."""
        chain: list[Scope] = [self]
        while True:
            inner = next((child for child in chain[-1].children if child.contains(pc)), None)
            if inner is None:
                return chain
            if len(chain) > _DEEPEST:
                raise self.unit.entries.error(self.offset, f"scopes are nested deeper than {_DEEPEST}")
            chain.append(inner)


_BLANK = "_BLNK_"
"""The name that compilers give a common block without a name."""


class CommonBlock(Struct, frozen=True):
    """A Fortran common block (A.4.2): its name, and its variables as the scope names them."""

    name: str
    variables: tuple[Variable, ...]


def _common_block(die: Die) -> Die | None:
    """The common block that an entry describes or refers to."""
    block: Die | None = die
    if die.tag == Tag.COMMON_INCLUSION:
        block = die.reference(At.COMMON_REFERENCE)
    return block if block is not None and block.tag == Tag.COMMON_BLOCK else None


def _variables_in(block: Die) -> list[Die]:
    return [child for child in block.children if child.tag in _VARIABLE_TAGS]


def _with_common(die: Die) -> list[Die]:
    """The entry itself; for a common block or a reference to one, the entries of its variables."""
    block = _common_block(die)
    return [die] if block is None else _variables_in(block)


class LexicalBlock(Scope):
    """A block of statements with declarations of its own."""


class CallSiteParameter(Struct, frozen=True):
    """An argument of a call, which the attributes of its entry (``die``) describe; `rocdbg.dwarf.reader` evaluates
    them.

    ``parameter`` is the entry of the callee's parameter; None if the producer does not say which it is.
    """

    die: Die
    parameter: Die | None = None


class CallSite(Struct, frozen=True):
    """A call in the code of a scope. Fields are None where the producer gives none."""

    offset: int
    return_pc: FileAddress | None
    call_pc: FileAddress | None
    target: Function | None
    tail_call: bool
    parameters: tuple[CallSiteParameter, ...]
    origin: Die | None = None
    """The entry that is called: a subprogram or another entry point of one."""


class Function(Scope):
    """A function.

    A function with code is one out-of-line instance. One without code (``ranges`` is empty) was inlined everywhere. An
    ``InlinedSubroutine`` refers to the function it is an instance of through ``.function``.
    """

    @cached_property
    def scope_names(self) -> tuple[str, ...]:
        """Names of the namespaces and classes around it, outermost first. As in GDB, a contained Fortran procedure
        belongs to the procedure that contains it.
        """
        parent = self.die.parent
        if parent is not None and parent.tag == Tag.SUBPROGRAM and self.unit.language_name == "fortran":
            return () if parent.name is None else (parent.name,)
        *_, declaration = self.die.origins()
        return enclosing_names(declaration)

    @cached_property
    def type(self) -> FunctionType:
        """The function's type. The parameter list is that of the instance, ``this`` included."""
        return self.unit.entries.types.function_type(self.die)

    @property
    def return_type(self) -> Type:
        """What it returns; VOID for nothing."""
        return self.type.return_type

    @cached_property
    def template_arguments(self) -> tuple[TemplateArgument, ...]:
        """Template arguments of an instantiation."""
        types = self.unit.entries.types
        for die in self.die.origins():
            arguments = types.template_arguments(die)
            if arguments:
                return arguments
        return ()

    @cached_property
    def frame_base(self) -> Exprloc | Loclist | None:
        """DW_AT_frame_base."""
        value = self.die.find(At.FRAME_BASE)
        return value if isinstance(value, Exprloc | Loclist) else None

    @property
    def calling_convention(self) -> int | None:
        """DW_AT_calling_convention."""
        return self._number(At.CALLING_CONVENTION)

    @property
    def is_kernel(self) -> bool:
        """True when the calling convention says so.

        Clang's HIP kernels do not have the attribute: only the code object identifies them (a kernel descriptor whose
        entry is ``entry_pc``).
        """
        return self.calling_convention == Convention.LLVM_DEVICE_KERNEL

    @property
    def is_inline(self) -> bool:
        """True when instances of it were or could have been inlined (DW_AT_inline is not
        DW_INL_not_inlined)."""
        return self._number(At.INLINE) not in (None, Inline.NOT_INLINED)

    @property
    def abstract(self) -> Die:
        """The entry that inlined instances have as their origin."""
        return self.die.reference(At.ABSTRACT_ORIGIN) or self.die

    @property
    def display_name(self) -> str:
        """The name as ``info functions`` lists it, which in C++ includes the parameter types: ``ns::add(int, int)``."""
        name = self.qualified_name or self.linkage_name or ""
        if not self.unit.is_cxx:
            return name
        shown = [str(parameter.type) for parameter in self.type.parameters if not parameter.artificial]
        if self.type.variadic:
            shown.append("...")
        return f"{name}({', '.join(shown) or 'void'})"

    @cached_property
    def call_sites(self) -> tuple[CallSite, ...]:
        """The calls in its code, including those in its blocks and inlined calls."""
        return tuple(self._call_sites(self.die, _DEEPEST))

    @property
    def describes_all_calls(self) -> bool:
        """Whether each call in its code is among its ``call_sites``."""
        return self._flag(At.CALL_ALL_CALLS) or self._flag(At.GNU_ALL_CALL_SITES)

    def _call_sites(self, die: Die, depth: int) -> Iterator[CallSite]:
        if depth == 0:
            raise self.unit.entries.error(self.offset, f"scopes are nested deeper than {_DEEPEST}")
        for child in die.children:
            if child.tag in _CALL_SITE_TAGS:
                yield _call_site(child)
            elif child.tag in (Tag.LEXICAL_BLOCK, Tag.INLINED_SUBROUTINE):
                yield from self._call_sites(child, depth - 1)


class InlinedSubroutine(Scope):
    """An inlined instance of a function."""

    @cached_property
    def function(self) -> Function:
        """The function that was inlined."""
        return Function(self.die.reference(At.ABSTRACT_ORIGIN) or self.die)

    @cached_property
    def call_file(self) -> SourceFile | None:
        """File of the call."""
        value = self.die.attribute(At.CALL_FILE)
        return self.unit.file(value.value) if isinstance(value, Constant) else None

    @property
    def call_line(self) -> int | None:
        """Line of the call."""
        value = self.die.attribute(At.CALL_LINE)
        return value.value if isinstance(value, Constant) else None


def _call_site(die: Die) -> CallSite:
    def address(code: int) -> FileAddress | None:
        value = die.attribute(code)
        return FileAddress(value.value) if isinstance(value, Address) else None

    gnu = die.tag == Tag.GNU_CALL_SITE
    target = die.reference(At.ABSTRACT_ORIGIN if gnu else At.CALL_ORIGIN)
    tail = die.attribute(At.GNU_TAIL_CALL if gnu else At.CALL_TAIL_CALL)
    return CallSite(
        die.offset,
        address(At.LOW_PC if gnu else At.CALL_RETURN_PC),
        address(At.CALL_PC),
        Function(target) if target is not None and target.tag == Tag.SUBPROGRAM else None,
        isinstance(tail, Flag) and tail.value,
        tuple(_call_site_parameter(child) for child in die.children if child.tag in _PARAMETER_TAGS),
        target,
    )


def _call_site_parameter(die: Die) -> CallSiteParameter:
    gnu = die.tag == Tag.GNU_CALL_SITE_PARAMETER
    return CallSiteParameter(die, die.reference(At.ABSTRACT_ORIGIN if gnu else At.CALL_PARAMETER))
