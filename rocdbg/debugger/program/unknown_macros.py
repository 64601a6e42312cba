"""Names of a function's text that may be macros which no known file defines, and which of them can do no harm.

A name in capitals may be a macro of the command line (``-DTILE=16``) or of a header that is not there. One that stands
where an operand or a type does can change no variable, if it is known to be a constant: it is a bound of a shared
array, a case, asked for by ``#if``. Where nothing but the command line and the headers of languages can have defined
it, it is taken to be an expression without effects, or a type. What its value is stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rocdbg.debugger.program.source_tokens import Token

_MACRO_LIKE = re.compile(r"[A-Z][A-Z0-9_]+")
_LIMITS = re.compile(
    r"(?:U?(?:CHAR|SHRT|INT|LONG|LLONG|INT(?:8|16|32|64|PTR|MAX))|SCHAR|SIZE|PTRDIFF)_(?:MIN|MAX)|CHAR_BIT"
    r"|(?:FLT|DBL|HALF)_(?:MIN|MAX|EPSILON|DIG|MANT_DIG)|NULL|INFINITY|NAN|HUGE_VALF?|M_\w+"
)
"""Macros of C's headers."""
_OPENCL_CONSTANTS: Final = ("CLK_", "FLT_", "DBL_", "INT_", "UINT_", "LONG_", "ULONG_", "CHAR_")
_DECLARATIONS = (
    r"\benum\b[^{{}};]*{{[^{{}}]*\b{0}\b",
    r"\b(?:const|constexpr)\b[^;{{}}()=#]*\b{0}\s*[={{\[]",
    r"\b(?:struct|class|union|enum|typename|using|namespace)\s+(?:class\s+)?{0}\b",
    r"\btypedef\b[^;{{}}]*\b{0}\s*;",
    r"\btemplate\s*<[^;{{}}()]*\b\w+\s+{0}\s*[,>=]",
)
"""Texts that declare a name, which no macro has then."""
_CONSTANT_USES = (
    r"^[ \t]*#[ \t]*(?:if|elif)\b(?:(?!\bdefined\b)[^\n]|\bdefined\s*\(?\s*\w+)*?\b{0}\b",
    r"\bcase\s+{0}\s*:",
    r"\b(?:static_assert|__launch_bounds__|alignas|reqd_work_group_size|amdgpu_flat_work_group_size)\s*\([^;{{}}]*\b{0}\b",
    r"\bconstexpr\b[^;{{}}#]*=[^;{{}}#]*\b{0}\b",
    r"\b(?:__shared__|__constant__|__local|local|static)\b[\w\s]*(?:\[[^\];]*\]\s*)*\[[^\];\[]*\b{0}\b",
)
"""Where a macro has to be a constant expression."""
_STANDARD_HEADER = re.compile(
    r"\w+|hip/\w+\.h|hip/amd_detail/\w+\.h|c?(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale"
    r"|math|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|tgmath|time|uchar"
    r"|wchar)\.h"
)
_BEFORE_OPERANDS: Final = frozenset({
    "(", "[", ",", "=", "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^", "<<",
    ">>", "?", ":", "!", "~", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "return", "case",
})
_BEHIND_OPERANDS: Final = frozenset({
    ")", "]", ",", ";", "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^", "<<",
    ">>", "?", ":",
})
_BEFORE_TYPES: Final = frozenset({";", "{", "}", "(", ",", "<", "const", "static", "__shared__"})


class UnknownMacros:
    """What is unknown of the macros in a text.

    ``texts`` are the known texts, ``defined`` the macros that they define, ``unread`` the includes that were not read
    (whether in quotes, the name); None: files that were compiled are not known. ``declared`` are names that the debug
    information has for the function's variables.
    """

    def __init__(
        self, texts: Mapping[str, str], defined: Iterable[str], unread: Iterable[tuple[bool, str]] | None,
        is_cxx: bool, declared: frozenset[str],
    ) -> None:
        self._texts = texts
        self._defined = frozenset(defined)
        self._is_cxx = is_cxx
        self._declared = declared
        self._only_given = unread is not None and all(
            not is_quoted and _STANDARD_HEADER.fullmatch(name) is not None for is_quoted, name in unread
        )

    def names(self, tokens: Sequence[Token]) -> frozenset[str]:
        """The unknown macros in a function."""
        names = {token.text for token in tokens if token.is_name and _MACRO_LIKE.fullmatch(token.text) is not None}
        return frozenset(name for name in names if not self._is_known(name))

    def are_harmless(self, tokens: Sequence[Token], unknown: frozenset[str]) -> bool:
        """Whether none of the unknown macros in a function can change what its text says of variables.

        What is of a type that they give may be a reference.
        """
        if not unknown:
            return True
        constants = {name for name in unknown if self._is_any(name, _CONSTANT_USES)}
        if not self._only_given and constants != unknown:
            return False
        # a macro in the place of an operator or a statement could be anything, and one with arguments change them
        return all(
            _is_operand(tokens, index) or (token.text not in constants and _is_type(tokens, index))
            for index, token in enumerate(tokens) if token.is_name and token.text in unknown
        )

    def _is_known(self, name: str) -> bool:
        """Whether a name is that of a known macro, or of no macro."""
        return (
            name in self._defined or name in self._declared or _LIMITS.fullmatch(name) is not None
            or (not self._is_cxx and name.startswith(_OPENCL_CONSTANTS)) or self._is_any(name, _DECLARATIONS)
        )

    def _is_any(self, name: str, patterns: Iterable[str]) -> bool:
        return any(
            re.search(pattern.format(re.escape(name)), text, re.M)
            for text in self._texts.values() if name in text for pattern in patterns
        )


def _is_operand(tokens: Sequence[Token], index: int) -> bool:
    before = tokens[index - 1].text if index else ""
    behind = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if before == ":" and behind == ";":
        return False  # maybe a statement with a label
    if before == ")" and behind in _BEHIND_OPERANDS:
        return _is_cast(tokens, index - 1)
    if before == "&" and index > 2 and (
        tokens[index - 2].text in _BEFORE_OPERANDS or (tokens[index - 3].text, tokens[index - 2].text) == ("*", ")")
    ):
        return False  # its address, perhaps that of a variable
    return before in _BEFORE_OPERANDS and behind in _BEHIND_OPERANDS


def _is_cast(tokens: Sequence[Token], closing: int) -> bool:
    """Whether parentheses of two or three tokens are a cast, and not the condition of a statement."""
    return closing > 2 and tokens[closing - 2].text == "(" and tokens[closing - 1].is_name and (
        tokens[closing - 3].text in _BEFORE_OPERANDS
    )


def _is_type(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name stands where a declaration's type does: names, stars and then what may follow a variable."""
    if not index or tokens[index - 1].text not in _BEFORE_TYPES:
        return False
    index += 1
    while index < len(tokens) and tokens[index].text in ("*", "const", "__restrict__", "restrict"):
        index += 1
    return (
        index + 1 < len(tokens) and tokens[index].is_name and tokens[index + 1].text in ("=", ";", ",", ")", "[", "{")
    )
