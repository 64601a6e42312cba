"""The meanings of names in expressions. As in GDB, all names are looked up, in order, before anything is evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from rocdbg.debugger.base.errors import NoSymbolError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.literals import hexadecimal
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.qualified_members import member_value
from rocdbg.debugger.expr.value_access import member_of_this
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error


def name_value(node: syntax.Name, environment: Environment, only_type: bool) -> Value:
    """Return the value of a name. Raises `NoSymbolError` for an unknown name, other errors if it has no value."""
    if node.global_:
        value = environment.global_symbol(node.name, True)
    else:
        value = environment.local(node.name)
        if value is None:
            value = member_of_this(node.name, environment, only_type)  # members hide globals
        if value is None:
            value = _class_member(node.name, environment, only_type) or environment.variable(node.name)
    return value if value is not None else hexadecimal(node.name, environment)


def _class_member(name: str, environment: Environment, only_type: bool) -> Value | None:
    """Return ``Class::member``; ``None`` if it does not exist."""
    scope, _, last = name.rpartition("::")
    return member_value(scope, last, environment, only_type) if scope else None


def is_namespace(name: str, environment: Environment) -> bool:
    """Whether a name denotes only a namespace, which is allowed in place of a type."""
    known = environment.is_cplusplus and environment.types.namespace(name) is not None
    return known and environment.variable(name) is None and member_of_this(name, environment, True) is None


def need_known(names: Iterable[syntax.Name | syntax.TypeName], environment: Environment) -> None:
    """Raise the error for the first unknown name."""
    for name in names:
        if isinstance(name, syntax.TypeName):
            if name.tag:
                environment.types.named(name.name, name.tag)
            continue
        if not name.global_ and any(variable.name == name.name for variable in environment.local_variables()):
            continue
        try:
            name_value(name, environment, True)
        except NoSymbolError:
            raise
        except Error:
            continue  # it is known but has no value here


def need_names(node: syntax.Expression, environment: Environment) -> None:
    """Apply `need_known` to the names in a tree."""
    need_known(names_of(node, environment.is_cplusplus), environment)


def names_of(node: object, is_cxx: bool) -> Iterator[syntax.Name | syntax.TypeName]:
    """Yield the names in a tree, in order; in C++ without those of called functions, whose lookup needs the arguments.
    """
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, syntax.Name):
            yield node
        elif isinstance(node, tuple | list):
            waiting.extend(reversed(node))
        elif isinstance(node, Struct) and not isinstance(node, syntax.RegisterList):  # its names may be registers
            if isinstance(node, syntax.TypeName):
                yield node
            parts = [getattr(node, name) for name in node.__struct_fields__]
            if is_cxx and isinstance(node, syntax.Call) and _is_plain(node.function):
                parts.remove(node.function)
            waiting.extend(reversed(parts))


def _is_plain(node: syntax.Expression) -> bool:
    return isinstance(node, syntax.Name) and not node.global_ and "::" not in node.name


def has_effect(node: object) -> bool:
    """Whether evaluating a tree changes anything or calls a function."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, syntax.Assign | syntax.Postfix | syntax.Call) or (
            isinstance(node, syntax.Unary) and node.operator in ("++", "--")
        ):
            return True
        if isinstance(node, tuple | list):
            waiting.extend(node)
        elif isinstance(node, Struct):
            waiting.extend(getattr(node, name) for name in node.__struct_fields__)
    return False
