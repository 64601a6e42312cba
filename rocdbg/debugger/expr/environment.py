"""What evaluating an expression needs of the world around it."""

from __future__ import annotations

from typing import Protocol

from rocdbg.debugger.expr.convenience import Convenience
from rocdbg.debugger.expr.type_lookup import TypeLookup
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.values.history import ValueHistory
from rocdbg.debugger.values.storage import Memory
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import Type
from rocdbg.dwarf.location import LocationDescription


class Environment(Protocol):
    """The names, registers and memory at one place of the program (one wave, lane, frame)."""

    @property
    def focus(self) -> Focus:
        """The place."""

    @property
    def bool_type(self) -> Type:
        """The type of comparisons: bool in C++, else int."""

    @property
    def is_cplusplus(self) -> bool:
        """Whether ``this`` has members."""

    @property
    def input_radix(self) -> int:
        """Base of integer literals without a prefix."""

    @property
    def memory(self) -> Memory:
        """Memory as the focused lane sees it."""

    @property
    def history(self) -> ValueHistory:
        """``$1``, ``$``."""

    @property
    def convenience(self) -> Convenience:
        """``$foo``."""

    def variable(self, name: str) -> Value | None:
        """A local, argument, global, function or built-in of this name, innermost first."""

    def local(self, name: str) -> Value | None:
        """A variable of the frame's blocks, innermost first."""

    def global_symbol(self, name: str) -> Value | None:
        """A global variable, function, enumerator or symbol."""

    def scoped_variable(self, scope: str, name: str) -> Value:
        """``'file.c'::name``, ``function::name``. Raises `NoSymbolError`."""

    def is_type(self, name: str) -> bool:
        """Whether a name that is no variable here names a type."""

    @property
    def types(self) -> TypeLookup:
        """The types by name that can be seen from here."""

    def complete_type(self, type_: Type) -> Type:
        """The definition of a type that is only declared here; else the type itself."""

    def at_address(self, type_: Type, space: int, address: int) -> Value:
        """What is at an address of a DWARF address space."""

    def pointed_member(self, pointer: Value, object_: Value) -> Value:
        """``object_.*pointer``. Raises `ExpressionError` for what is no pointer to a data member."""

    def at_location(self, type_: Type, location: LocationDescription) -> Value:
        """What is at a location description."""

    def register(self, name: str) -> Value | None:
        """A register of the selected frame by name (without ``$``); ``None`` when none is called so."""

    def register_range(self, file: str, first: int, last: int) -> Value:
        """``$s[4:5]`` as one value."""
