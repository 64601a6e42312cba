"""The imports in the text of a module, anywhere in it; each text is parsed once for all tests."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

Found = tuple[ast.Import | ast.ImportFrom, bool]
"""An import, and whether it is only for type checking."""


@cache
def imports(source: str) -> tuple[Found, ...]:
    """All imports."""
    return tuple(_below(ast.parse(source).body, False))


def _below(nodes: Iterable[ast.AST], is_for_types: bool) -> Iterator[Found]:
    """Only statements contain imports, and parts of statements: handlers, cases."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, is_for_types
            continue
        inside = is_for_types or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            parts = getattr(node, field, ())
            if isinstance(parts, list):  # the body of a lambda, or of a conditional expression, is none
                yield from _below(parts, inside)
