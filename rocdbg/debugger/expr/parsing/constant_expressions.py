"""Expressions that are constant by their form: GDB watches none of them, whatever else never changes."""

from __future__ import annotations

from rocdbg.debugger.base.errors import TypeNameError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.evaluator import value_tree
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.dwarf.info.types import FunctionType

_LITERALS = (syntax.Integer, syntax.Float, syntax.Char, syntax.Bool, syntax.TypeExpression, syntax.TypeName)


def is_constant_text(text: str, environment: Environment) -> bool:
    """Whether an expression, or a type's name, is constant. Raises a `rocdbg.Error` for what means nothing."""
    try:
        return is_constant(value_tree(text, environment), environment)
    except TypeNameError:
        return True


def is_constant(tree: syntax.Expression, environment: Environment) -> bool:
    """Whether a tree is made of literals, names of functions and constants, and operators that read nothing.

    Raises a `rocdbg.Error` for a name that means nothing.
    """
    waiting: list[syntax.Expression] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _LITERALS):
            continue
        if isinstance(node, syntax.Name):
            if not _is_constant_name(node, environment):
                return False
        elif isinstance(node, syntax.Unary) and node.operator not in ("*", "++", "--"):
            waiting.append(node.operand)
        elif isinstance(node, syntax.Binary) and node.operator != "@":
            waiting += node.left, node.right
        elif isinstance(node, syntax.Conditional):
            waiting += node.condition, node.then, node.otherwise
        elif isinstance(node, syntax.Cast):
            waiting.append(node.operand)
        elif isinstance(node, syntax.SpaceAddress):
            waiting.append(node.address)
        elif isinstance(node, syntax.Sizeof) and isinstance(node.operand, syntax.TypeExpression):
            continue
        else:
            return False
    return True


def _is_constant_name(node: syntax.Name, environment: Environment) -> bool:
    """Whether a name is that of a function, of an enumerator, or of a variable that has a value and no place."""
    value = environment.global_symbol(node.name, True) if node.global_ else environment.variable(node.name)
    if value is None:
        return False
    return isinstance(value.bare, FunctionType) or (value.storage is None and value.absence is None)


__all__ = ["is_constant_text"]
