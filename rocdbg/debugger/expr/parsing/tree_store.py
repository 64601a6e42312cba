"""A session's store of the syntax trees of texts that it has parsed."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from rocdbg.debugger.expr.parsing import syntax

MAX_KEPT, MAX_KEPT_CHARACTERS = 16_384, 1 << 20
"""The largest number of trees, and of characters in their texts: thousands of breakpoints may each have a condition."""
MAX_KEPT_TEXT = 1024

TextKey: TypeAlias = tuple[str, int, bool]
"""A text, the base of its integer literals, and whether it is C++."""
Answers: TypeAlias = tuple[tuple[str, bool], ...]


class KeptTree(Struct, frozen=True):
    """A tree, with the answers that the environment gave while the text was parsed. The tree is valid wherever the
    environment would give the same answers.
    """

    tree: syntax.Expression
    types: Answers
    """Which names are types."""
    names: Answers
    """Which names with template arguments exist."""
    needed: tuple[syntax.Name | syntax.TypeName, ...]
    """The names that must be known before the tree is evaluated."""


class TreeStore:
    """Trees by text, because loops and conditions evaluate the same texts repeatedly. The store is emptied when it is
    full.
    """

    def __init__(self) -> None:
        self._trees: dict[TextKey, KeptTree] = {}
        self._characters = 0

    def find(self, key: TextKey) -> KeptTree | None:
        """Return what is stored for a text."""
        return self._trees.get(key)

    def keep(self, key: TextKey, kept: KeptTree) -> None:
        """Store a text's tree, unless the text is very long."""
        length = len(key[0])
        if length > MAX_KEPT_TEXT:
            return
        if len(self._trees) >= MAX_KEPT or self._characters + length > MAX_KEPT_CHARACTERS:
            self._trees.clear()
            self._characters = 0
        self._characters += length
        self._trees[key] = kept
