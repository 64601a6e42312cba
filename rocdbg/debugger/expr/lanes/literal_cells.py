"""Expressions of one shape: trees that differ only in the values of their literals, which become cells of one compiled
expression.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.evaluator import Evaluator
from rocdbg.debugger.expr.lanes.lane_terms import size_of
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.values.value import Value

Literal: TypeAlias = syntax.Integer | syntax.Float | syntax.Char | syntax.Bool
_LITERALS = (syntax.Integer, syntax.Float, syntax.Char, syntax.Bool)
_TYPES = (syntax.Sizeof, syntax.TypeName, syntax.TypeOf, syntax.TypeExpression)
"""Parts whose literals affect types."""


class Shape(Struct, frozen=True):
    """What trees of one shape have in common (``key``), with the literals of one tree and their values."""

    key: object
    literals: tuple[Literal, ...]
    values: tuple[Value, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The contents of the cells."""
        return tuple(int.from_bytes(value.contents(), "little") for value in self.values)

    def cells(self) -> dict[int, int]:
        """Return the number of each literal's cell, by the literal's identity."""
        return {id(literal): number for number, literal in enumerate(self.literals)}


def shape_of(tree: syntax.Expression, environment: Environment, indexes: bool) -> Shape | None:
    """Return the shape of a tree; ``None`` if it has none. ``indexes``: literals between brackets may differ too.

    Literals of different types belong to different shapes.
    """
    literals: list[Literal] = []
    values: list[Value] = []
    evaluator = Evaluator(environment)

    def common(node: object) -> object:
        if isinstance(node, _LITERALS):
            value = evaluator.value(node)
            literals.append(node)
            values.append(value)
            return "literal", str(value.type), size_of(value.type)
        if isinstance(node, syntax.Index) and isinstance(node.index, _LITERALS) and not indexes:
            return syntax.Index, common(node.base), type(node.index), node.index
        if isinstance(node, _TYPES):
            return node
        if isinstance(node, tuple):
            return tuple(map(common, node))
        if isinstance(node, Struct):
            return type(node), *(common(getattr(node, name)) for name in node.__struct_fields__)
        return node

    key = common(tree)
    if len(set(map(id, literals))) < len(literals):
        return None
    return Shape((indexes, key), tuple(literals), tuple(values))


__all__ = ["Literal", "Shape", "shape_of"]
