"""From the tree of a type name to the type it stands for."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.debugger.base.errors import NoSymbolError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.values import c_types
from rocdbg.dwarf.info.types import (
    ArrayType,
    FunctionType,
    Parameter,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    Type,
)


def named_type(
    name: syntax.AnyTypeName, environment: Environment, type_of: Callable[[syntax.Expression], Type]
) -> Type:
    """The type a type name stands for; ``type_of`` gives the type of an expression (``typeof``).

    Raises `NoSymbolError` for names that no type has.
    """
    if isinstance(name, syntax.TypeOf):
        return _derived(type_of(name.operand), name.derivations, environment, type_of)
    found = c_types.basic_type(name.name) if not name.tag else None
    if found is None or name.name == "half":
        try:
            found = environment.types.named(name.name, name.tag)
        except NoSymbolError:
            if found is None:
                raise
    if name.is_const:
        found = QualifiedType(Qualifier.CONST, found)
    if name.is_volatile:
        found = QualifiedType(Qualifier.VOLATILE, found)
    return _derived(found, name.derivations, environment, type_of)


def _derived(
    base: Type, derivations: syntax.Derivations, environment: Environment, type_of: Callable[[syntax.Expression], Type]
) -> Type:
    """The pointers, arrays and functions that a declarator makes of a type."""
    for derivation in derivations:
        if isinstance(derivation, tuple):
            variadic = derivation[-1:] == (syntax.VARIADIC,)
            types = [named_type(name, environment, type_of) for name in derivation if name != syntax.VARIADIC]
            if len(types) == 1 and c_types.is_void(types[0]):
                types = []
            parameters = tuple(Parameter(type_) for type_ in types)
            base = FunctionType(base, parameters, variadic, prototyped=bool(derivation))
        elif isinstance(derivation, int):
            base = ArrayType(base, derivation if derivation >= 0 else None)
        elif derivation in ("const", "volatile"):
            base = QualifiedType(Qualifier(derivation), base)
        else:
            base = PointerType(base, PointerKind(derivation))
    return base
