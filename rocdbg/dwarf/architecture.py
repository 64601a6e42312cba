"""What the evaluator must know about a target architecture, and a registry of architectures by name.

The evaluator knows no GPU: everything specific comes from an `Architecture` record (A.2.5.1, "a current target
architecture"). The layer that knows an architecture's numbers creates its record. It registers a loader under the
architecture's name, so that nothing is imported before use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property

from msgspec import Struct, field

from rocdbg.dwarf.errors import EvaluationError

__all__ = [
    "UNSPECIFIED",
    "AddressSpace",
    "Architecture",
    "DefaultRule",
    "Processor",
    "architecture_by_name",
    "architecture_names",
    "register_architecture",
]


class DefaultRule(Enum):
    """The rule of a CFI column that no instruction has set (A.6.4.1, item 10)."""

    UNDEFINED = "undefined"
    SAME_VALUE = "same value"


class AddressSpace(Struct, frozen=True):
    """One DWARF address space of an architecture (A.2.13).

    `number` is the DWARF identifier, `address_bits` the size of an address. In a `per_lane` space, creating a location
    requires a current lane; in a space with only `sees_lane`, such as a generic one, only some addresses require it.
    `alias` and `lane` describe an identifier that denotes one lane of another space (the private_lane<N> identifiers
    of the 2020 proposal).
    """

    number: int
    name: str
    address_bits: int
    per_lane: bool = False
    sees_lane: bool = False
    alias: int | None = None
    lane: int | None = None

    @property
    def size(self) -> int:
        """Bits in the address space's location storage (A.2.5.4.4.3)."""
        return 8 << self.address_bits


def _one_element(number: int) -> int:
    """By default a register is not a vector."""
    return 1


class Processor(Struct, frozen=True):
    """How a processor's code usually addresses its stack. Location expressions do not state this (see
    `rocdbg.dwarf.clang_conventions`).

    `swizzled_stack`: stack and frame pointers are offsets for the whole wave, because scratch is accessed through a
    buffer descriptor; otherwise they are per-lane offsets. `wave_size` is the compiler's default.
    """

    swizzled_stack: bool
    wave_size: int


def _no_processor(name: str) -> Processor | None:
    return None


class Architecture(Struct, frozen=True, dict=True):
    """A target architecture: sizes of registers and addresses, address spaces, CFI defaults.

    `address_bits` is the size of an address in the default address space, hence of the generic type (A.2.5.2).
    `address_spaces` maps DWARF identifiers; `dialect_address_spaces` adds those that exist in one dialect only.
    `register_size(number)` returns bytes, or None if the architecture has no such register; `register_name(number)`
    returns its name as text; `register_elements(number)` returns how many equal unsigned elements its base type has.
    """

    name: str
    address_bits: int
    address_spaces: Mapping[int, AddressSpace]
    register_size: Callable[[int], int | None]
    register_name: Callable[[int], str]
    register_elements: Callable[[int], int] = _one_element
    default_address_space: int = 0
    return_address_register: int | None = None
    default_rule: DefaultRule = DefaultRule.UNDEFINED
    dialect_address_spaces: Mapping[str, Mapping[int, AddressSpace]] = field(default_factory=dict)
    processor: Callable[[str], Processor | None] = _no_processor
    """Looks up the facts of a processor by name; None if it does not belong to this architecture."""

    def address_space(self, number: int, dialect: str = "amd") -> AddressSpace | None:
        """The address space with this DWARF identifier (A.2.13), or None if the architecture defines none."""
        space = self.address_spaces.get(number)
        if space is None:
            extra = self.dialect_address_spaces.get(dialect)
            if extra is not None:
                space = extra.get(number)
        return space

    @cached_property
    def largest_storage(self) -> int:
        """Bits in the largest memory storage: the limit of a composite's size (A.2.5.4.4.6)."""
        return max(space.size for space in self.address_spaces.values())


def _no_register(number: int) -> int | None:
    return None


def _plain_name(number: int) -> str:
    return str(number)


UNSPECIFIED = Architecture(
    name="unspecified",
    address_bits=64,
    address_spaces={0: AddressSpace(0, "none", 64)},
    register_size=_no_register,
    register_name=_plain_name,
)
"""Used if the context has no architecture: one 64-bit address space and no registers."""

_LOADERS: dict[str, Callable[[], Architecture]] = {}
_LOADED: dict[str, Architecture] = {}


def register_architecture(name: str, loader: Callable[[], Architecture]) -> None:
    """Register an architecture under `name`; `loader` is called when it is first requested."""
    _LOADERS[name] = loader
    _LOADED.pop(name, None)


def architecture_names() -> tuple[str, ...]:
    """The names `architecture_by_name` knows, sorted."""
    return tuple(sorted(_LOADERS))


def architecture_by_name(name: str) -> Architecture:
    """The architecture registered under `name`; if there is none, raises an `EvaluationError` that lists the known
    names.
    """
    found = _LOADED.get(name)
    if found is None:
        loader = _LOADERS.get(name)
        if loader is None:
            known = ", ".join(architecture_names()) or "none"
            raise EvaluationError(f"architecture '{name}' is not known to the evaluator (known: {known})")
        found = _LOADED[name] = loader()
    return found
