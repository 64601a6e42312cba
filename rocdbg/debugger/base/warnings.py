"""Warnings of the engine, kept until a front end shows them."""

from __future__ import annotations


class Warnings:
    """Warnings in order, without the prefix ``warning:``."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def add(self, text: str) -> None:
        """Keep a warning for `take`."""
        self._texts.append(text)

    def take(self) -> list[str]:
        """Return the warnings since the last call."""
        texts, self._texts = self._texts, []
        return texts
