"""What the text of a function shows about its variables and code: which never change, and what runs only once.

Anything unclear in the text counts as a change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from rocdbg.debugger.program.opencl_kernels import is_library_function
from rocdbg.debugger.program.source_text.source_texts import UnitTexts
from rocdbg.debugger.program.source_text.source_tokens import (
    Token,
    TooManyTokensError,
    expand,
    function_tokens,
    tokens_of,
)
from rocdbg.dwarf.info import DebugInfo, SourceFile, Variable
from rocdbg.dwarf.info.types import (
    ArrayType,
    BaseType,
    ClassType,
    EnumType,
    FunctionType,
    PointerKind,
    PointerType,
    Type,
)

_ASSIGNMENTS: Final = frozenset({
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "and_eq", "or_eq", "xor_eq",
})
_DIRECT: Final = frozenset({"++", "--"})
_REFERENCES: Final = frozenset({"&", "&&", "bitand", "and"})
_CONDITIONS: Final = frozenset({"if", "while", "switch", "return", "sizeof"})
_NO_OPERAND: Final = frozenset({"return", "case", "throw", "co_return", "co_yield", "else", "do"})
_NUMBERS: Final = frozenset({"int", "unsigned", "float", "double", "char", "short", "long", "bool", "half"})
_TYPE_WORDS: Final = _NUMBERS | {
    "signed", "const", "void", "size_t", "uint", "ulong", "ushort", "uchar", "uint32_t", "int32_t", "uint64_t",
    "int64_t", "uint16_t", "int16_t", "uint8_t", "int8_t", "*",
}
_LOOPS: Final = frozenset({"for", "while", "do"})
_ASSEMBLY: Final = frozenset({"asm", "__asm", "__asm__"})
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*", re.M)


class FunctionText:
    """The tokens of a function, with queries about its variables and calls.

    ``declared`` holds the names that the function itself declares.
    """

    def __init__(
        self, tokens: list[Token], texts: UnitTexts, is_cxx: bool, file: SourceFile,
        info: DebugInfo, declared: Collection[str] = (),
    ) -> None:
        self.tokens = tokens
        self.is_cxx = is_cxx
        self.file = file
        self._opener: list[int | None] = []
        """For each token, the index of the bracket that encloses it."""
        stack: list[int] = []
        names: set[str] = set()
        self.calls: set[str] = set()
        """Names that are followed by parentheses, after the parameters."""
        self.body: int | None = None
        """The index of the opening brace of the function's body."""
        for index, token in enumerate(tokens):
            if token.text in (")", "]", "}") and stack:
                stack.pop()
            self._opener.append(stack[-1] if stack else None)
            if token.text in ("(", "[", "{"):
                stack.append(index)
                if self.body is None and token.text == "{" and len(stack) == 1:
                    self.body = index
            if token.is_name:
                names.add(token.text)
                following = tokens[index + 1].text if index + 1 < len(tokens) else ""
                if self.body is not None and following in ("(", "<<<") and token.text not in _CONDITIONS | {"for"}:
                    self.calls.add(token.text)
        bodies = texts.bodies
        self._hidden = " ".join(bodies[name] for name in names if name in bodies)
        self._texts = texts
        self._info = info
        spellings = {token.text for token in tokens}
        self._jumps = "goto" in spellings
        macros = texts.unknown_macros(is_cxx, declared, (file.path, tokens[0].line), info)
        unknown = frozenset[str]() if texts.has_all_macros else macros.names(tokens)
        self.is_obscure = "##" in self._hidden or not macros.are_harmless(tokens, unknown)
        self._reference_types = unknown | texts.reference_words
        self._places: dict[str, list[int]] = {}
        self._objects: dict[str, list[int]] = {}
        """The positions of names, without those of members."""
        for index, token in enumerate(tokens):
            if token.is_name:
                self._places.setdefault(token.text, []).append(index)
                if index and tokens[index - 1].text not in (".", "->", "::"):
                    self._objects.setdefault(token.text, []).append(index)
        self._captures = any(
            tokens[index].text == "[" and tokens[index + 1].text == "&" for index in range(len(tokens) - 1)
        )
        self._read, self._written = self._operands_of_assembly()
        """The tokens of the inputs of assembly statements, and the other tokens in their parentheses."""

    def _operands_of_assembly(self) -> tuple[set[int], set[int]]:
        """Return the tokens of the inputs of assembly statements, and of everything else in their parentheses."""
        read, written = set[int](), set[int]()
        for start, token in enumerate(self.tokens):
            if token.text not in _ASSEMBLY:
                continue
            colons, opener = 0, None
            for index in range(start + 1, len(self.tokens)):
                text = self.tokens[index].text
                if opener is None:
                    opener = index if text == "(" else None
                elif text == ")" and self._opener[index] == self._opener[opener]:
                    break
                elif self._opener[index] == opener and text in (":", "::"):
                    colons += len(text)
                else:
                    (read if colons == 2 else written).add(index)
        return read, written

    def _types_of(self, name: str) -> list[FunctionType]:
        """Return the types of all functions with this name."""
        return [function.type for function in self._info.functions_named(name)]

    def places(self, name: str) -> list[int]:
        """Return the positions of a name where it is not that of a member."""
        return self._objects.get(name, [])

    def is_visible(self, declared: int, index: int) -> bool:
        """Whether a declaration at one token is in scope at a later token."""
        block = self._opener[declared]
        if block == 1:
            return True  # the declaration of a parameter
        around = self._opener[index]
        while around is not None and around != block:
            around = self._opener[around]
        return block is not None and around == block

    def is_defined(self, name: str) -> bool:
        """Whether one of the texts defines a function of this name."""
        return bool(self._texts.definitions(name))

    def definition(self, name: str) -> tuple[list[Token], FunctionText] | None:
        """Return the only function to which a name can refer: the tokens before its name, and those from there on."""
        found = self._texts.definitions(name) if self._texts.is_closed or not self.is_cxx else []
        if len(found) != 1:
            return None
        text, place = found[0]
        start = max(text.rfind(";", 0, place), text.rfind("}", 0, place))
        for match in _DIRECTIVE.finditer(text, max(start, 0), place):
            start = match.end()
        line = text.count("\n", 0, place) + 1
        tokens = function_tokens(text, line, name)
        if tokens is None:
            return None
        try:
            head = expand(list(tokens_of(text[start + 1 : place])), self._texts.macros)
            body = expand(tokens, self._texts.macros)
        except (TooManyTokensError, RecursionError):
            return None
        return head, FunctionText(body, self._texts, self.is_cxx, self.file, self._info)

    def _is_in_body(self, name: str) -> bool:
        """Whether the first occurrence of a name is directly in the function's braces."""
        places = self.places(name)
        return bool(places) and self.body is not None and self._opener[places[0]] == self.body

    def keeps(self, variable: Variable, *, is_const: bool = False) -> bool:
        """Whether a variable's value never changes after its initialisation, which happens once per call.

        A const variable does not change, regardless of unknown macros.
        """
        places = self._declared(variable, is_const)
        if places is None:
            return False
        tokens, first = self.tokens, places[0]
        if not variable.is_parameter and (self._jumps or not self._is_outside_loops(first) or not (
            (self._declares(first) or tokens[first - 1].text == ",")
            and tokens[first + 1].text in ("=", "(", "{", ";", ",")
        )):
            return False
        return not any(self._may_change(index - 1, index + 1) for index in places[1:])

    def keeps_members(self, parameter: Variable) -> bool:
        """Whether the members of a parameter of class type never change: members are only read, and the object is only
        passed by value.

        Any other use may be an operation that the class defines.
        """
        places = None if self._captures else self._declared(parameter)
        return places is not None and all(self._is_only_read(index, parameter.type) for index in places[1:])

    def _declared(self, variable: Variable, is_const: bool = False) -> list[int] | None:
        """Return the positions of a variable's name, its declaration first; None if they are not certain."""
        name = variable.name
        if not name or re.search(rf"\b{re.escape(name)}\b", self._hidden):
            return None
        if self.is_obscure and not (is_const and not variable.is_parameter and self._is_in_body(name)):
            return None
        places = self.places(name)
        if not places:
            return None
        first = places[0]
        if self.tokens[first].line != variable.decl_line or variable.decl_file != self.file:
            return None
        if variable.is_parameter and (
            not self._declares(first) or self._opener[first] != 1 or self.tokens[1].text != "("
        ):
            return None
        return places

    def _is_only_read(self, index: int, type_: Type) -> bool:
        """Whether an occurrence of an object of class type only reads it."""
        tokens = self.tokens
        right, member = member_after(tokens, index + 1, type_, self._closing)
        if right > index + 1:
            return is_plain(member) and not self._may_change(index - 1, right)
        is_argument = tokens[index - 1].text in ("(", ",") and tokens[right].text in (")", ",")
        return is_argument and not self._may_change(index - 1, right)

    def calls_once(self, name: str, line: int) -> bool:
        """Whether a line calls a function, and none of these calls is in a loop."""
        if self.is_obscure or self._jumps or re.search(r"\b(for|while|do|goto)\b", self._hidden):
            return False
        places = [
            index for index in self._places.get(name, ())
            if self.tokens[index].line == line and self.tokens[index + 1].text == "("
        ]
        return bool(places) and all(self._is_statement_outside_loops(index) for index in places)

    def _is_statement_outside_loops(self, index: int) -> bool:
        """Whether the statement that contains a token is outside loops."""
        tokens = self.tokens
        opener = self._opener[index]
        while opener is not None and tokens[opener].text != "{":
            if tokens[opener - 1].text in _LOOPS:
                return False
            index, opener = opener, self._opener[opener]
        if opener is None:
            return False
        start = index
        while self._opener[start - 1] == opener or start - 1 > opener:
            before = tokens[start - 1].text
            if self._opener[start - 1] == opener and before in (";", "{", "}"):
                break
            if self._opener[start - 1] == opener and before in _LOOPS:
                return False
            start -= 1
        if tokens[start].text == "else" and not self._is_plain_else(start):
            return False
        return self._is_outside_loops(index)

    def _declares(self, index: int) -> bool:
        before = self.tokens[index - 1]
        return before.text in ("*", ">") or (before.is_name and before.text not in _NO_OPERAND)

    def _is_outside_loops(self, index: int) -> bool:
        """Whether all braces around a token are those of the function, of blocks, or of if and else."""
        opener = self._opener[index]
        while opener is not None:
            if self.tokens[opener].text != "{":
                return False
            outer = self._opener[opener]
            before = self.tokens[opener - 1]
            if outer is None:
                return True
            if before.text == ")":
                start = self._start_of(opener - 1)
                keyword = "" if start is None else self.tokens[start - 1].text
                if start is None or keyword not in ("if", "switch") or self._follows_loop(start - 1):
                    return False
            else:
                is_block = before.text in ("{", "}", ";") or (before.text == "else" and self._is_plain_else(opener - 1))
                if not is_block:
                    return False
            opener = outer
        return False

    def _start_of(self, closing: int) -> int | None:
        """Return the position of the opening parenthesis that matches the one at ``closing``."""
        return closing - 1 if self.tokens[closing - 1].text == "(" else self._opener[closing - 1]

    def _follows_loop(self, index: int) -> bool:
        """Whether the statement at a token is, or may be, the body of a loop without braces."""
        before = self.tokens[index - 1].text
        return before not in ("{", "}", ";") and not (before == "else" and self._is_plain_else(index - 1))

    def _is_plain_else(self, index: int) -> bool:
        """Whether the if to which an else belongs is outside loops; this is known only if braces precede the else."""
        return self.tokens[index - 1].text == "}" and self._if_of_braces(index - 1)

    def _if_of_braces(self, closing: int) -> bool:
        depth = 0
        for index in range(closing, 0, -1):
            depth += {"}": 1, "{": -1}.get(self.tokens[index].text, 0)
            if depth == 0:
                before = self.tokens[index - 1].text
                if before == ")":
                    start = self._start_of(index - 1)
                    return (
                        start is not None and self.tokens[start - 1].text == "if"
                        and not self._follows_loop(start - 1)
                    )
                return before == "else" and self._is_plain_else(index - 1)
        return False

    def _may_change(self, left: int, right: int) -> bool:
        """Whether a variable, alone or in a parenthesised expression between two tokens, may be changed there."""
        tokens = self.tokens
        if {left + 1, right - 1} & self._written:
            return True
        if left + 1 in self._read:
            return False
        before, following = tokens[left], tokens[right]
        if following.text in _ASSIGNMENTS or before.text in _DIRECT:
            return True
        if before.is_name and before.text not in _NO_OPERAND | _CONDITIONS:
            return True  # it is declared again
        if self._captures and before.text == "return":
            return True  # a lambda captures it, possibly by reference
        if before.text in _REFERENCES and before.text not in ("&&", "and"):
            earlier = tokens[left - 1]
            is_operand = earlier.is_name and earlier.text not in _NO_OPERAND | _CONDITIONS | _NUMBERS
            if not is_operand and not (earlier.text and earlier.text[0].isdigit()) and earlier.text != "]":
                return True
        if before.text in ("=", "(", "{") and left >= 2 and tokens[left - 1].is_name and (
            tokens[left - 2].text in _REFERENCES or tokens[left - 2].text in self._reference_types
        ):
            return True
        if before.text == ">>" and self.is_cxx and following.text in (";", ",", ">>"):
            return True  # possibly a stream
        if before.text not in ("(", ",", "{", "?", ":") or following.text not in (")", ",", "}", ":"):
            # "cond ? x : y" may be an lvalue, but not if x is an operand of another operator
            return self.is_cxx and before.text in ("?", ":") and following.text in (";", ":", ")", "]", "}", ",")
        return self._may_bind(left, right)

    def _may_bind(self, left: int, right: int) -> bool:
        """Whether a variable that is alone between brackets and commas may be bound to a reference there."""
        tokens = self.tokens
        opener = self._opener[left + 1]
        if opener is None or tokens[opener].text != "(":
            return self.is_cxx or tokens[left].text == "("
        callee = tokens[opener - 1]
        alone = tokens[left].text == "(" and tokens[right].text == ")"
        if callee.text in _CONDITIONS | _NUMBERS and tokens[left].text != ",":
            return self._captures and callee.text == "return"
        if alone and callee.text == ")" and self._is_cast(opener - 1):
            return False
        if alone and not callee.is_name and callee.text not in (")", "]", ">", "}", ""):
            return self._may_change(left - 1, right + 1)
        if callee.text in self._texts.bodies:
            return True
        if not self.is_cxx:
            return callee.is_name and not self._is_function(callee.text)
        if not callee.is_name:
            return True
        return not callee.text.startswith("__builtin_") and not self._takes_value(opener, left + 1)

    def _is_function(self, name: str) -> bool:
        """Whether the called function is a C function, which takes values, and not a command-line macro."""
        return (
            name.startswith("__builtin_") or is_library_function(name) or bool(self._types_of(name))
            or self.is_defined(name)
        )

    def _is_cast(self, closing: int) -> bool:
        """Whether parentheses contain only a type that is not a reference."""
        start = self._start_of(closing)
        words = [] if start is None else [token.text for token in self.tokens[start + 1 : closing]]
        return bool(words) and all(
            word in _TYPE_WORDS
            or (word in self._texts.bodies and set(self._texts.bodies[word].split()) <= _TYPE_WORDS) for word in words
        )

    def _takes_value(self, opener: int, argument: int) -> bool:
        """Whether all overloads of a called function take an argument by value."""
        tokens = self.tokens
        name = tokens[opener - 1].text
        if tokens[opener - 2].text in (".", "->", "::"):
            return False
        number = sum(
            1 for index in range(opener + 1, argument)
            if tokens[index].text == "," and self._opener[index] == opener
        )
        declared = next((
            index for index in self._places.get(name, ())
            if tokens[index - 1].text == "*" and tokens[index - 2].text == "("
            and tokens[index + 1].text == ")" and tokens[index + 2].text == "("
        ), None)
        if declared is not None:
            closing = self._closing(declared + 2)
            return all(tokens[index].text not in _REFERENCES for index in range(declared + 3, closing))
        types = self._types_of(name)
        alone = len(types) == 1 and len(self._texts.definitions(name)) == 1  # there are no unknown overloads either
        if not (self._texts.is_closed or alone) or not types or any(
            number >= len(type_.parameters) or is_reference(type_.parameters[number].type) for type_ in types
        ):
            return False
        return not self._texts.may_take_references(name)

    def _closing(self, opener: int) -> int:
        """Return the position after the contents of a bracket."""
        return next(
            (index for index in range(opener + 1, len(self.tokens)) if self._opener[index] == self._opener[opener]),
            len(self.tokens),
        )


# The member of an object to which the text after the object's name refers: ``.inner.list[2]``.


def member_after(
    tokens: Sequence[Token], index: int, object_type: Type, closing: Callable[[int], int]
) -> tuple[int, Type | None]:
    """Return the token after the member access that begins at ``index``, and the member's type (None if it is not a
    data member).

    ``closing`` returns the token that closes the bracket at a token. The target of a pointer member is not part of the
    object.
    """
    type_: Type | None = object_type
    while type_ is not None and index < len(tokens) and tokens[index].text in (".", "["):
        bare = type_.bare
        if tokens[index].text == "[":
            if isinstance(bare, PointerType):
                break
            type_ = bare.element if isinstance(bare, ArrayType) else None
            index = closing(index) + 1
        else:
            name = tokens[index + 1].text
            members = bare.members if isinstance(bare, ClassType) else ()
            type_ = next((member.type for member in members if member.name == name), None)
            index += 2
    return index, type_ if index < len(tokens) else None


def is_plain(type_: Type | None) -> bool:
    """Whether operators on values of a type cannot be overloaded."""
    return type_ is not None and isinstance(type_.bare, BaseType | EnumType | PointerType) and not is_reference(type_)


def is_reference(type_: Type) -> bool:
    """Whether a type is a reference."""
    bare = type_.bare
    return isinstance(bare, PointerType) and bare.kind is not PointerKind.POINTER
