"""Types as text: names and ``ptype``, as GDB prints them."""

from __future__ import annotations

from rocdbg.dwarf.info.types import Type


def type_name(type: Type, declarator: str = "") -> str:
    """The name of a type as ``whatis`` prints it, wrapped around ``declarator``: ``int (*f)(int)`` for ``f``."""
    raise NotImplementedError


def describe(type: Type) -> list[str]:
    """The lines ``ptype`` prints: the outermost typedef resolved, classes and enumerations with their bodies.

    Like GDB's ``ptype``, only the type at the end of pointers and arrays is expanded (``struct S {`` ... ``} *``).
    """
    raise NotImplementedError
