"""A cache of the syntax trees of expressions at a place of the program."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager

from msgspec import Struct

from rocdbg.debugger.base.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.names.meanings import has_effect, is_namespace, names_of, need_known
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.macro_expansion import expand
from rocdbg.debugger.expr.parsing.macro_scope import macros_at
from rocdbg.debugger.expr.parsing.parser import parse
from rocdbg.debugger.expr.parsing.tree_store import KeptTree
from rocdbg.dwarf.info import DebugInfoError


def parse_in(
    text: str, environment: Environment, names_first: bool = False, variables: Container[str] = ()
) -> syntax.Expression:
    """Parse a text with the names of an environment. Raises `ExpressionError`.

    ``names_first``: the text is evaluated at this place, so an unknown name is reported before any other error, and
    before anything is changed. ``variables``: names that are variables where the text will be evaluated.
    """
    text = _without_macros(text, environment)
    asked_types: list[tuple[str, bool]] = []
    asked_names: list[tuple[str, bool]] = []

    def is_type(name: str) -> bool:
        asked_types.append((name, names_type(name)))
        return asked_types[-1][1]

    def names_type(name: str) -> bool:
        return name not in variables and (environment.is_type(name) or is_namespace(name, environment))

    def is_known(name: str) -> bool:
        asked_names.append((name, environment.types.is_known(name)))
        return asked_names[-1][1]

    key = text, environment.input_radix, environment.is_cplusplus
    store = environment.convenience.trees
    known = store.find(key)
    if known is not None:
        same_types = all(names_type(name) is answer for name, answer in known.types)
        if same_types and all(environment.types.is_known(name) is answer for name, answer in known.names):
            if names_first:
                need_known(known.needed, environment)
            return known.tree
    found: list[syntax.Name | syntax.TypeName] = []
    with nesting_limited(text):
        try:
            tree = parse(text, is_type, is_known, environment.input_radix, environment.is_cplusplus, found)
        except (ExpressionError, NoSymbolError):
            if names_first:
                need_known(found, environment)
            raise
    needed = tuple(names_of(tree, environment.is_cplusplus)) if has_effect(tree) else ()
    store.keep(key, KeptTree(tree, tuple(dict(asked_types).items()), tuple(dict(asked_names).items()), needed))
    if names_first:
        need_known(needed, environment)
    return tree


def _without_macros(text: str, environment: Environment) -> str:
    """Expand the macros in a text. Damaged macro information does not affect expressions that use no macros."""
    scope = macros_at(environment)
    try:
        if not scope.user and not scope.has_macros:
            return text
        return expand(text, scope.find)
    except DebugInfoError:
        return text


@contextmanager
def nesting_limited(text: str) -> Iterator[None]:
    """In the block of this context manager, report a stack overflow caused by deep nesting as an error of the
    expression.
    """
    try:
        yield
    except RecursionError:
        raise ExpressionError("The expression is nested too deeply.", text) from None


def names_in(node: object) -> Iterator[str]:
    """Yield the plain names in a tree, in order."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, syntax.Name):
            yield node.name
        elif isinstance(node, tuple | list):
            waiting.extend(reversed(node))
        elif isinstance(node, Struct):
            waiting.extend(getattr(node, name) for name in reversed(node.__struct_fields__))
