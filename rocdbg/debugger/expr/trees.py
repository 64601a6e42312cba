"""The syntax trees of expressions at a place of the program, kept between evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from msgspec import Struct

from rocdbg.debugger.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.expr import ast
from rocdbg.debugger.expr.access import member_of_this
from rocdbg.debugger.expr.environment import Environment
from rocdbg.debugger.expr.macro_expansion import expand
from rocdbg.debugger.expr.macro_scope import macros_at
from rocdbg.debugger.expr.parser import parse
from rocdbg.dwarf.info import DebugInfoError


def parse_in(text: str, environment: Environment, names_first: bool = False) -> ast.Expression:
    """The tree of a text, by what its names are in an environment. Raises `ExpressionError`.

    ``names_first``: the text is about this very place, so that a name that means nothing is an error before others.
    """
    text = _without_macros(text, environment)
    asked_types: list[tuple[str, bool]] = []
    asked_names: list[tuple[str, bool]] = []

    def is_type(name: str) -> bool:
        asked_types.append((name, environment.is_type(name)))
        return asked_types[-1][1]

    def is_known(name: str) -> bool:
        asked_names.append((name, environment.types.is_known(name)))
        return asked_names[-1][1]

    key = text, environment.input_radix, environment.is_cplusplus
    known = _TREES.get(key)
    if known is not None:
        tree, types, names = known
        same_types = all(environment.is_type(name) is answer for name, answer in types)
        if same_types and all(environment.types.is_known(name) is answer for name, answer in names):
            return tree
    found: list[str] = []
    with nesting_limited(text):
        try:
            tree = parse(text, is_type, is_known, environment.input_radix, environment.is_cplusplus, found)
        except ExpressionError as error:
            if names_first and error.offset is not None:
                for name in found:
                    _need(name, environment)
            raise
    if len(text) <= MAX_KEPT_TEXT:
        if len(_TREES) >= MAX_KEPT or _kept[0] + len(text) > MAX_KEPT_CHARACTERS:
            _TREES.clear()
            _kept[0] = 0
        _kept[0] += len(text)
        _TREES[key] = tree, tuple(dict(asked_types).items()), tuple(dict(asked_names).items())
    return tree


def _without_macros(text: str, environment: Environment) -> str:
    """The text with macros expanded. Damaged information about macros does not keep others from their values."""
    scope = macros_at(environment)
    try:
        if not scope.user and not scope.has_macros:
            return text
        return expand(text, scope.find)
    except DebugInfoError:
        return text


def _need(name: str, environment: Environment) -> None:
    """Raise `NoSymbolError` where a name means nothing."""
    if not is_known_name(name, environment):
        raise NoSymbolError(name)


def is_known_name(name: str, environment: Environment) -> bool:
    """Whether a name is a variable, function or member that can be seen."""
    return environment.variable(name) is not None or member_of_this(name, environment, True) is not None


def need_names(node: ast.Expression, environment: Environment) -> None:
    """Raise `NoSymbolError` for a name that means nothing in what is not evaluated: GDB looks names up first."""
    for name in names_in(node):
        if "::" not in name and not environment.is_type(name):
            _need(name, environment)


_Answers: TypeAlias = tuple[tuple[str, bool], ...]
_TREES: dict[tuple[str, int, bool], tuple[ast.Expression, _Answers, _Answers]] = {}
"""Trees of texts that were parsed (loops and conditions evaluate the same ones over and over), with what was asked of
the environment meanwhile: `is_type` and `is_known`. A tree holds wherever the answers are the same."""
MAX_KEPT, MAX_KEPT_CHARACTERS = 16_384, 1 << 20
"""Trees, and characters of their texts together: thousands of breakpoints at a line have each a condition."""
MAX_KEPT_TEXT = 1024
_kept = [0]
"""Characters of the texts in `_TREES`; a list, as it changes."""


@contextmanager
def nesting_limited(text: str) -> Iterator[None]:
    """Too little stack for a deep expression is a fault of the expression: it says so in one line."""
    try:
        yield
    except RecursionError:
        raise ExpressionError("The expression is nested too deeply.", text) from None


def names_in(node: object) -> Iterator[str]:
    """The plain names in a tree, in order."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            yield node.name
        elif isinstance(node, tuple | list):
            waiting.extend(reversed(node))
        elif isinstance(node, Struct):
            waiting.extend(getattr(node, name) for name in reversed(node.__struct_fields__))
