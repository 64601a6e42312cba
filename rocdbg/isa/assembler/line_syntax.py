"""Splits a line of assembler into mnemonic, operands and modifier words."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

_REGISTER = re.compile(r"[vas]\d+$")
"""Matches a register. Where an operand is possible, a16 is a register, not a modifier."""
_COMMENT = re.compile(r"/\*(?! ?(?:Invalid|DP ALU|row_)).*?\*/", re.DOTALL)
_BRACKETS = {"(": 1, "[": 1, ")": -1, "]": -1}


class Statement(Struct, frozen=True):
    """One instruction as typed. ``parts`` holds the pieces between the commas after the mnemonic, each as a list of its
    words; for a dual instruction it has those of both halves, and ``second`` is the mnemonic of the second half.
    """

    mnemonic: str
    parts: list[list[str]]
    second: str = ""


def parse(text: str) -> Statement:
    """Split a line; comments (``// ...``, ``; ...`` and ``/* ... */``) are dropped, except the marks that the decoder
    prints as comments."""
    text = _COMMENT.sub(lambda match: " " * len(match[0]), text)
    first, separator, rest = text.partition(" :: ")
    mnemonic, parts = _half(first)
    if not separator:
        return Statement(mnemonic, parts)
    second, more = _half(rest)
    return Statement(mnemonic, parts + more, second)


def _half(text: str) -> tuple[str, list[list[str]]]:
    words = text.strip().split(None, 1)
    if not words:
        return "", []
    parts = [part for part in (words_of(part) for part in _commas(_uncommented(words[1] if words[1:] else ""))) if part]
    if words[0].removesuffix("_e32") in ("exp", "export") and parts and len(parts[0]) > 1:
        parts[:1] = [parts[0][:1], parts[0][1:]]  # `exp mrt0 v0, ...': no comma after the target
    return words[0].lower(), parts


def _uncommented(text: str) -> str:
    for mark in ("//", ";"):
        text = text.partition(mark)[0]
    return text


def _cut(text: str, ends: str) -> list[str]:
    """Split a text at the separators ``ends`` that are outside brackets, comments and quotes."""
    pieces, current, depth, i, quoted = [], "", 0, 0, False
    while i < len(text):
        if not quoted and text.startswith("/*", i):
            end = text.find("*/", i)
            end = len(text) if end < 0 else end + 2
            current += text[i:end]
            i = end
            continue
        char = text[i]
        quoted ^= char == '"'
        if not quoted:
            depth += _BRACKETS.get(char, 0)
        if char in ends and depth <= 0 and not quoted:
            pieces.append(current)
            current = ""
        else:
            current += char
        i += 1
    pieces.append(current)
    return pieces


def _commas(text: str) -> list[str]:
    return [piece.strip() for piece in _cut(text, ",")]


def words_of(text: str) -> list[str]:
    """Words; text in brackets, comments or quotes is not split."""
    return [word for word in _cut(text, " \t") if word]


def elements(text: str) -> list[str]:
    """The elements of ``[a, b]`` or the arguments of ``name(a, b)``."""
    inner = text[text.find("[" if text.startswith("[") else "(") + 1 : -1]
    return _commas(inner) if inner.strip() else []


def separate(statement: Statement, is_modifier: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """The operands, and the modifier words: everything from the first modifier word on, except in the first half of a
    dual instruction, which has no modifiers."""
    operands: list[str] = []
    for number, part in enumerate(statement.parts):
        cut = next((i for i, word in enumerate(part) if is_modifier(word) and (i or not _REGISTER.match(word))), None)
        if cut is None:
            operands.append(" ".join(part))
            continue
        if cut:
            operands.append(" ".join(part[:cut]))
        rest = part[cut:] + [word for other in statement.parts[number + 1 :] for word in other]
        return operands, rest
    return operands, []


def column_of(text: str, statement: Statement, matched: int, word: str) -> int:
    """The column, from 1, of the first occurrence of a word after the line's first ``matched`` operands; if there is
    none, the column after the line.
    """
    at = len(text) - len(text.lstrip())
    if word.lower() != statement.mnemonic:
        at += len(statement.mnemonic)
        for part in statement.parts[:matched]:
            for passed in part:
                at = max(at, text.find(passed, at) + len(passed))
    first = next(iter(words_of(word)), "")
    found = text.find(first, at) if first else -1
    if found < 0 and first:
        found = text.find(first)
    return (found if found >= 0 else len(text.rstrip())) + 1
