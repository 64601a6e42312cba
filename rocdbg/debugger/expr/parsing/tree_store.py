"""Where a session keeps the syntax trees of texts that it has parsed."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from rocdbg.debugger.expr.parsing import syntax

MAX_KEPT, MAX_KEPT_CHARACTERS = 16_384, 1 << 20
"""Trees, and characters of their texts together: thousands of breakpoints at a line have each a condition."""
MAX_KEPT_TEXT = 1024

TextKey: TypeAlias = tuple[str, int, bool]
"""A text, the base of its literals, and whether it is C++."""
Answers: TypeAlias = tuple[tuple[str, bool], ...]


class KeptTree(Struct, frozen=True):
    """A tree, and what was asked of the environment meanwhile: it holds wherever the answers are the same."""

    tree: syntax.Expression
    types: Answers
    """Whether names are types."""
    names: Answers
    """Whether names with template arguments are known."""
    needed: tuple[syntax.Name | syntax.TypeName, ...]
    """The names that must mean something before the tree is evaluated."""


class TreeStore:
    """Trees by text: loops and conditions evaluate the same ones over and over. When it is full it is emptied."""

    def __init__(self) -> None:
        self._trees: dict[TextKey, KeptTree] = {}
        self._characters = 0

    def find(self, key: TextKey) -> KeptTree | None:
        """What is kept of a text."""
        return self._trees.get(key)

    def keep(self, key: TextKey, kept: KeptTree) -> None:
        """Keep a text's tree, unless the text is very long."""
        length = len(key[0])
        if length > MAX_KEPT_TEXT:
            return
        if len(self._trees) >= MAX_KEPT or self._characters + length > MAX_KEPT_CHARACTERS:
            self._trees.clear()
            self._characters = 0
        self._characters += length
        self._trees[key] = kept
