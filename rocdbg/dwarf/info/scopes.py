"""Functions, inlined calls, blocks, and the variables in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rocdbg.dwarf.info.attributes import AttributeValue, Exprloc, Loclist, Location
from rocdbg.dwarf.info.model import AddressRange, SourceFile
from rocdbg.dwarf.info.types import FunctionType, TemplateArgument, Type

if TYPE_CHECKING:
    from rocdbg.dwarf.info.die import Die
    from rocdbg.dwarf.info.unit import Unit


class Entity:
    """A named thing with an entry (``die``): its attributes, looked up through specification and abstract origin."""

    die: Die
    unit: Unit

    @property
    def offset(self) -> int:
        """Offset of the entry in ``.debug_info``; identifies the thing."""
        raise NotImplementedError

    def attribute(self, code: int) -> AttributeValue | None:
        """Attribute ``code`` (see ``constants.At``; vendor codes as numbers), also from the entry's origin."""
        raise NotImplementedError

    @cached_property
    def name(self) -> str | None:
        """Source name without scopes (``add``, ``kern<2>``); None when anonymous."""
        raise NotImplementedError

    @cached_property
    def qualified_name(self) -> str | None:
        """Name with namespaces and classes: ``ns::S<float, 3>::get``."""
        raise NotImplementedError

    @cached_property
    def linkage_name(self) -> str | None:
        """Mangled name, the one in the symbol table; None where the producer gives none (then ``name`` is it)."""
        raise NotImplementedError

    @cached_property
    def decl_file(self) -> SourceFile | None:
        """File of the declaration."""
        raise NotImplementedError

    @cached_property
    def decl_line(self) -> int | None:
        """Line of the declaration, from 1; None when not given."""
        raise NotImplementedError

    @property
    def external(self) -> bool:
        """Visible outside its unit."""
        raise NotImplementedError

    @property
    def artificial(self) -> bool:
        """Made by the compiler, not written in the source."""
        raise NotImplementedError


class Variable(Entity):
    """A variable, parameter or constant."""

    @property
    def is_parameter(self) -> bool:
        """A formal parameter of the enclosing function."""
        raise NotImplementedError

    @property
    def declaration(self) -> bool:
        """Only declared here."""
        raise NotImplementedError

    @cached_property
    def type(self) -> Type:
        """Its type."""
        raise NotImplementedError

    @cached_property
    def location(self) -> Location | None:
        """DW_AT_location (``Exprloc`` or ``Loclist``), else DW_AT_const_value (``Constant``, ``Block``, ``String``).

        None: the compiler kept neither. For a local variable that is "optimized out"; a variable in LDS
        (``__shared__``, ``local``) has no location either, and is found by ``linkage_name``/``name`` as a symbol.
        A ``Constant`` of a signed type is to be read with ``signed_value(type.size)``.
        """
        raise NotImplementedError


class Scope(Entity):
    """Something with code and variables: a ``Function``, an ``InlinedSubroutine`` or a ``LexicalBlock``."""

    @cached_property
    def ranges(self) -> tuple[AddressRange, ...]:
        """The code, in the order of the debug information; empty when there is none."""
        raise NotImplementedError

    @property
    def low_pc(self) -> int | None:
        """Lowest address of the code."""
        raise NotImplementedError

    @property
    def high_pc(self) -> int | None:
        """End (exclusive) of the highest range."""
        raise NotImplementedError

    @property
    def entry_pc(self) -> int | None:
        """Where it is entered: DW_AT_entry_pc, else the start of the first range."""
        raise NotImplementedError

    def contains(self, pc: int) -> bool:
        """True when ``pc`` is in its code."""
        raise NotImplementedError

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Parameters and variables declared directly in this scope, in source order.

        Those the compiler dropped from this instance of an inlined function are there too, without location.
        """
        raise NotImplementedError

    @cached_property
    def types(self) -> tuple[Type, ...]:
        """Named types declared directly in this scope."""
        raise NotImplementedError

    @cached_property
    def children(self) -> tuple[Scope, ...]:
        """Blocks and inlined calls directly in this scope."""
        raise NotImplementedError


class LexicalBlock(Scope):
    """A block of statements with declarations of its own."""


@dataclass(frozen=True, slots=True)
class CallSiteParameter:
    """What a call passes: ``location`` in the callee and the expression of its ``value`` in the caller."""

    location: Exprloc | Loclist | None
    value: Exprloc | None
    data_location: Exprloc | None = None
    data_value: Exprloc | None = None


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call in the code of a scope. Fields are None where the producer gives none."""

    offset: int
    return_pc: int | None
    call_pc: int | None
    target: Function | None
    tail_call: bool
    parameters: tuple[CallSiteParameter, ...]


class Function(Scope):
    """A function.

    With code: one out-of-line instance. Without (``ranges`` empty): a function that was inlined everywhere.
    An ``InlinedSubroutine`` refers to the function it is an instance of through ``.function``.
    """

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """The formal parameters, in order."""
        raise NotImplementedError

    @cached_property
    def type(self) -> FunctionType:
        """Its type."""
        raise NotImplementedError

    @property
    def return_type(self) -> Type:
        """What it returns; VOID for nothing."""
        raise NotImplementedError

    @cached_property
    def template_arguments(self) -> tuple[TemplateArgument, ...]:
        """Template arguments of an instantiation."""
        raise NotImplementedError

    @cached_property
    def frame_base(self) -> Exprloc | Loclist | None:
        """DW_AT_frame_base."""
        raise NotImplementedError

    @property
    def calling_convention(self) -> int | None:
        """DW_AT_calling_convention."""
        raise NotImplementedError

    @property
    def is_kernel(self) -> bool:
        """True when the calling convention says so. HIP kernels of clang carry none: there only the code object
        knows (a kernel descriptor whose entry is ``entry_pc``)."""
        raise NotImplementedError

    @property
    def is_inline(self) -> bool:
        """True when instances of it were inlined somewhere, or could have been (DW_AT_inline)."""
        raise NotImplementedError

    @property
    def display_name(self) -> str:
        """Name with parameter types in C++, as ``info functions`` lists it: ``ns::add(int, int)``."""
        raise NotImplementedError

    @cached_property
    def call_sites(self) -> tuple[CallSite, ...]:
        """The calls in its code, those in its blocks included."""
        raise NotImplementedError


class InlinedSubroutine(Scope):
    """An inlined instance of a function."""

    @cached_property
    def function(self) -> Function:
        """The function that was inlined."""
        raise NotImplementedError

    @cached_property
    def call_file(self) -> SourceFile | None:
        """File of the call."""
        raise NotImplementedError

    @property
    def call_line(self) -> int | None:
        """Line of the call."""
        raise NotImplementedError

    @property
    def call_column(self) -> int | None:
        """Column of the call."""
        raise NotImplementedError
