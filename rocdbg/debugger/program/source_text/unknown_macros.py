"""What macros with unknown definitions may hide in a function's text: macros on the command line (``-DTILE=16``), and
those of unavailable headers.

Any name that neither the language nor a text nor debug information declares (`KnownNames`) may be such a macro. In the
place of an operand it is harmless if it must be a constant elsewhere in the text, and in the place of a type if it is
the type of a parameter: an assignment could not occur there. Its value remains unknown. In any other place the macro
could be anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from rocdbg.debugger.program.source_text.known_names import KnownNames, KnownText
from rocdbg.debugger.program.source_text.source_tokens import Token
from rocdbg.work import unit

_LIMITS = re.compile(
    r"(?:U?(?:CHAR|SHRT|INT|LONG|LLONG|INT(?:8|16|32|64|PTR|MAX))|SCHAR|SIZE|PTRDIFF)_(?:MIN|MAX)|CHAR_BIT"
    r"|(?:FLT|DBL|HALF)_(?:MIN|MAX|EPSILON|DIG|MANT_DIG)|NULL|INFINITY|NAN|HUGE_VALF?|M_\w+"
)
"""Matches macros of C's headers."""
_OPENCL_CONSTANTS: Final = ("CLK_", "FLT_", "DBL_", "INT_", "UINT_", "LONG_", "ULONG_", "CHAR_")
_CONSTANT_USES = (
    r"\bcase\s+{0}\s*:",
    r"\b(?:static_assert|__launch_bounds__|alignas|reqd_work_group_size|amdgpu_flat_work_group_size)\s*\([^;{{}}]*\b{0}\b",
    r"\bconstexpr\b[^;{{}}#]*=[^;{{}}#]*\b{0}\b",
    r"\b(?:__shared__|__constant__|__local|local|static)\b[\w\s]*(?:\[[^\];]*\]\s*)*\[[^\];\[]*\b{0}\b",
    r"\busing\s+\w+\s*=\s*(?:const\s+)?{0}\b[\s*&\w]*;",
    r"\btypedef\s+(?:const\s+)?{0}\b[^;{{}}]*;",
)
"""Matches text in which a macro must be a constant expression, or a type."""
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
_BEHIND_DECLARED: Final = frozenset({"=", ";", ",", "[", "{", "(", ":", "__attribute__"})


class UnknownMacros:
    """What is not known about the macros in a text.

    Attributes:
        texts: the known texts.
        defined: the possible definitions of macros that the known texts certainly define.
        unread: the includes that were not read (whether with quotes, the name); None if some compiled files are
            not known.
        declared: the names of the function's variables in debug information.
        names: decides which other names cannot be macros.
        has_command_line: whether the macros of the command line are known.
    """

    def __init__(
        self, texts: Mapping[str, KnownText], defined: Mapping[str, str], unread: Iterable[tuple[bool, str]] | None,
        names: KnownNames, declared: frozenset[str], *, is_cxx: bool, has_command_line: bool = False,
    ) -> None:
        self._texts = texts
        self._defined = defined
        self._is_cxx = is_cxx
        self._declared = declared
        self._names = names
        self._only_given = unread is not None and all(
            not is_quoted and _STANDARD_HEADER.fullmatch(name) is not None for is_quoted, name in unread
        )
        self._has_all = self._only_given and has_command_line

    def names(self, tokens: Sequence[Token]) -> frozenset[str]:
        """Return the names in a function that may be unknown macros."""
        if self._has_all:
            return frozenset()
        found = {
            (token.text, index > 0 and tokens[index - 1].text in (".", "->"))
            for index, token in _outside_attributes(tokens) if token.is_name
        }
        names = {name for name, is_member in found if not self._is_known(name, is_member)}
        if not names:
            return frozenset()
        types = _types_of_parameters(tokens)
        return frozenset(names - _declared_there(
            tokens, lambda word: self._is_type(word) or (word in names and (word in types or self._is_constant(word)))
        ))

    def are_harmless(self, tokens: Sequence[Token], unknown: frozenset[str]) -> bool:
        """Whether no unknown macro in a function can change what its text shows about variables: each must be a
        constant or a type somewhere, and be in the place of an operand or a type.

        A variable whose type comes from such a macro may be a reference.
        """
        if not unknown:
            return True
        types = _types_of_parameters(tokens)
        if not all(name in types or self._is_constant(name) for name in unknown):
            return False
        # a macro in place of an operator or statement could be anything; one with arguments could change these
        return all(
            _is_operand(tokens, index) or _is_type(tokens, index)
            for index, token in _outside_attributes(tokens) if token.is_name and token.text in unknown
        )

    def _is_type(self, word: str) -> bool:
        """Whether a word is a type, or a macro that is one."""
        return self._names.is_type(word) or (
            word in self._defined and all(map(self._names.is_type, self._defined[word].split()))
        )

    def _is_known(self, name: str, is_member: bool) -> bool:
        """Whether a name is a known macro, or certainly not a macro."""
        unit()
        return (
            name in self._defined or name in self._declared or _LIMITS.fullmatch(name) is not None
            or (not self._is_cxx and name.startswith(_OPENCL_CONSTANTS))
            or self._names.is_known(name, is_member=is_member)
        )

    def _is_constant(self, name: str) -> bool:
        """Whether some text uses a name where only a constant or a type is valid."""
        word = re.escape(name)
        return any(
            text.mentions(name) and (
                any(_is_evaluated(name, condition) for condition in text.conditions)
                or any(text.has(pattern.format(word)) for pattern in _CONSTANT_USES)
            )
            for text in self._texts.values()
        )


def _outside_attributes(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Yield the tokens, with their positions, that are not in attribute brackets, which contain names and constants."""
    depth = 0
    for index, token in enumerate(tokens):
        if depth or (token.text == "(" and index and tokens[index - 1].text in ("__attribute__", "__attribute")):
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        else:
            yield index, token


def _declared_there(tokens: Sequence[Token], is_type: Callable[[str], bool]) -> set[str]:
    """Return the names that declarations among the tokens declare; one declaration may declare several names."""
    found: set[str] = set()
    depth = 0
    declaring: int | None = None
    """The bracket depth of the declaration that is being read."""
    for index, token in enumerate(tokens[:-1]):
        before, following = tokens[index - 1].text if index else "", tokens[index + 1].text
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
        if token.text == ";" or (declaring is not None and depth < declaring):
            declaring = None
        if not token.is_name:
            continue
        if declaring is None and is_type(token.text) and before in (";", "{", "}", "(", "const", "static", "unsigned"):
            declaring = depth
        elif declaring == depth and following in _BEHIND_DECLARED and (
            before in (",", "*", "&") or is_type(before) or before in ("const", "__restrict__", "restrict")
        ):
            found.add(token.text)
    return found


def _is_evaluated(name: str, condition: str) -> bool:
    """Whether a condition evaluates a name, and not only whether it is defined."""
    word = re.escape(name)
    return re.search(rf"\b{word}\b", re.sub(r"\bdefined\s*\(?\s*\w+", "", condition)) is not None


def _types_of_parameters(tokens: Sequence[Token]) -> set[str]:
    """Return the names in a parameter list that follow a bracket or comma and precede another name."""
    found = set()
    depth = 0
    for index, token in enumerate(tokens[1:], 1):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0:
            break
        if depth == 1 and token.is_name and tokens[index - 1].text in ("(", ",", "const") and _is_before_variable(
            tokens, index + 1
        ):
            found.add(token.text)
    return found


def _is_operand(tokens: Sequence[Token], index: int) -> bool:
    before = tokens[index - 1].text if index else ""
    behind = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if before == ":" and behind == ";":
        return False  # possibly a statement with a label
    if before == ")" and behind in _BEHIND_OPERANDS:
        return _is_cast(tokens, index - 1)
    if before == "&" and index > 2 and (
        tokens[index - 2].text in _BEFORE_OPERANDS or (tokens[index - 3].text, tokens[index - 2].text) == ("*", ")")
    ):
        return False  # its address is taken, so it may be a variable
    return before in _BEFORE_OPERANDS and behind in _BEHIND_OPERANDS


def _is_cast(tokens: Sequence[Token], closing: int) -> bool:
    """Whether a name in parentheses is a cast, not the condition of a statement."""
    return closing > 2 and tokens[closing - 2].text == "(" and tokens[closing - 1].is_name and (
        tokens[closing - 3].text in _BEFORE_OPERANDS
    )


def _is_type(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name is in the place of a declaration's type: it is followed by names, stars and then something that
    may follow a variable.
    """
    return bool(index) and tokens[index - 1].text in _BEFORE_TYPES and _is_before_variable(tokens, index + 1)


def _is_before_variable(tokens: Sequence[Token], index: int) -> bool:
    while index < len(tokens) and tokens[index].text in ("*", "const", "__restrict__", "restrict"):
        index += 1
    return (
        index + 1 < len(tokens) and tokens[index].is_name and tokens[index + 1].text in ("=", ";", ",", ")", "[", "{")
    )
