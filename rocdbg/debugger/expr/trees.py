"""The syntax trees of expressions at a place of the program, kept between evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.expr import ast
from rocdbg.debugger.expr.environment import Environment
from rocdbg.debugger.expr.parser import parse


def parse_in(text: str, environment: Environment) -> ast.Expression:
    """The tree of a text, by what its names are in an environment. Raises `ExpressionError`."""
    asked_types: list[tuple[str, bool]] = []
    asked_names: list[tuple[str, bool]] = []

    def is_type(name: str) -> bool:
        asked_types.append((name, environment.is_type(name)))
        return asked_types[-1][1]

    def is_known(name: str) -> bool:
        asked_names.append((name, environment.types.is_known(name)))
        return asked_names[-1][1]

    key = text, environment.input_radix
    known = _TREES.get(key)
    if known is not None:
        tree, types, names = known
        same_types = all(environment.is_type(name) is answer for name, answer in types)
        if same_types and all(environment.types.is_known(name) is answer for name, answer in names):
            return tree
    with nesting_limited(text):
        tree = parse(text, is_type, is_known, environment.input_radix)
    if len(text) <= MAX_KEPT_TEXT:
        if len(_TREES) >= MAX_KEPT:
            _TREES.clear()
        _TREES[key] = tree, tuple(dict(asked_types).items()), tuple(dict(asked_names).items())
    return tree


_Answers: TypeAlias = tuple[tuple[str, bool], ...]
_TREES: dict[tuple[str, int], tuple[ast.Expression, _Answers, _Answers]] = {}
"""Trees of texts that were parsed (loops and conditions evaluate the same ones over and over), with what was asked of
the environment meanwhile: `is_type` and `is_known`. A tree holds wherever the answers are the same."""
MAX_KEPT = 1024
MAX_KEPT_TEXT = 1024


@contextmanager
def nesting_limited(text: str) -> Iterator[None]:
    """Too little stack for a deep expression is a fault of the expression: it says so in one line."""
    try:
        yield
    except RecursionError:
        raise ExpressionError("The expression is nested too deeply.", text) from None
