"""Splits the text of a disassembled instruction into mnemonic, operands and modifiers."""

from __future__ import annotations

import re

_BRACKETS = {"(": 1, "[": 1, ")": -1, "]": -1}


def split(text: str) -> tuple[str, list[str], list[str]]:
    """Mnemonic, operands and modifiers of a disassembled instruction."""
    if " :: " in text:
        first, _, second = text.partition(" :: ")
        opx, operands_x, _ = split(first)
        opy, operands_y, tail = split(second)
        return f"{opx} :: {opy}", operands_x + operands_y, tail
    mnemonic, _, rest = text.partition(" ")
    parts: list[str] = []
    current, depth, i = "", 0, 0
    while i < len(rest):
        if rest.startswith("/*", i):
            end = rest.index("*/", i) + 2
            current += rest[i:end]
            i = end
            continue
        char = rest[i]
        depth += _BRACKETS.get(char, 0)
        if char == "," and depth == 0 and rest.startswith(", ", i):
            parts.append(current)
            current = ""
            i += 2
            continue
        current += char
        i += 1
    if mnemonic in ("exp", "export") and parts:
        parts[:1] = parts[0].split(" ", 1)
    words = tokens(current)
    if not parts and words and is_modifier(words[0]):
        return mnemonic, [], words
    if words and words[0] != "":
        cut = len(words)
        for j, word in enumerate(words):
            if j and is_modifier(word):
                cut = j
                break
        parts.append(" ".join(words[:cut]))
        return mnemonic, parts, words[cut:]
    return mnemonic, parts, []


_MODIFIER = re.compile(
    r"^(?:[a-z_0-9]+:.*|clamp|glc|slc|dlc|scc|nv|lds|gds|tfe|offen|idxen|sc[01]|nt|done|vm|compr|row_en|scale_offset"
    r"|row_mirror|row_half_mirror|matrix_[ab]_reuse|high|unorm|da|r128|a16|d16|lwe|mul:.|div:."
    r"|/\* .*|wave_shl.*|row_.*)$"
)


def is_modifier(word: str) -> bool:
    return bool(_MODIFIER.match(word)) and not word.startswith(("hwreg", "sendmsg"))


def tokens(text: str) -> list[str]:
    """Words; comments and bracketed lists are not split."""
    words, current, depth, i = [], "", 0, 0
    while i < len(text):
        if text.startswith("/*", i):
            end = text.index("*/", i) + 2
            current += text[i:end]
            i = end
            continue
        char = text[i]
        depth += _BRACKETS.get(char, 0)
        if char == " " and depth == 0:
            words.append(current)
            current = ""
        else:
            current += char
        i += 1
    if current:
        words.append(current)
    return words
