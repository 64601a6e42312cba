"""Which variables of a function have one value from their initialisation on, as its source text tells.

Debug information does not say where a variable is assigned whose new value the compiler did not keep. So a value that
is followed beyond its locations must be one that never changes: the variable is const, or nothing in the text of its
function assigns to it, takes its address or binds a reference to it, and no loop brings it to life again. The text must
be the one that was compiled, by the checksum in the line table. Whatever the text leaves open counts as a change.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rocdbg.codeobject.regular_file import FileAccessError, read_regular
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source import SourceError, SourceFiles
from rocdbg.dwarf.info import Function, SourceFile, Variable
from rocdbg.dwarf.info.scopes import LexicalBlock, Scope
from rocdbg.dwarf.info.types import (
    BaseType,
    EnumType,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    Type,
    TypedefType,
)

_MOST_TOKENS: Final = 100_000
_MOST_BYTES: Final = 1 << 22
_MOST_FILES: Final = 64
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9a-zA-Z]|[0-9a-zA-Z_.])*)|'(?:\\.|[^'\\\n])+'"""
    r"""|(?P<name>[A-Za-z_]\w*)"""
    r"""|<<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|<%|%>|<:|:>|%:|.""",
    re.S,
)
_ASSIGNMENTS: Final = frozenset({
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "and_eq", "or_eq", "xor_eq",
})
_DIRECT: Final = frozenset({"++", "--"})
_REFERENCES: Final = frozenset({"&", "&&", "bitand", "and"})
_CONDITIONS: Final = frozenset({"if", "while", "switch", "return", "sizeof"})
_NO_OPERAND: Final = frozenset({"return", "case", "throw", "co_return", "co_yield", "else", "do"})
_NUMBERS: Final = frozenset({"int", "unsigned", "float", "double", "char", "short", "long", "bool", "half"})
_SUSPICIOUS: Final = frozenset({"goto", "asm", "__asm", "__asm__", "#", "\\", "<%", "%>", "<:", ":>", "%:", "compl"})
_MACRO_LIKE = re.compile(r"[A-Z][A-Z0-9_]+")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\r?\n|[^\n])*)", re.M)


class ConstantVariables:
    """Finds them, for each function once."""

    def __init__(self, sources: SourceFiles) -> None:
        self._sources = sources
        self._texts: dict[tuple[str, bytes | None], str | None] = {}
        self._macros: dict[int, dict[str, str] | None] = {}

    def of(self, program: Program, function: Function) -> tuple[list[Variable], bool]:
        """The scalar variables of a function with code that never change, and whether its code runs once per call.

        The latter is not known of device functions that call others: compilers make loops of recursion.
        """
        is_kernel = program.is_kernel(function)
        candidates = [variable for variable in _variables(function, 0) if _is_scalar(variable.type)]
        outermost = {variable.offset for variable in function.variables}
        body = self._body(function)
        found = []
        for variable in candidates:
            is_const = variable.offset in outermost and _is_const(variable.type) and not any(function.labels)
            if is_const or (body is not None and body.keeps(variable)):
                found.append(variable)
        return found, is_kernel or (body is not None and not body.calls)

    def _body(self, function: Function) -> _Body | None:
        file, line, name = function.decl_file, function.decl_line, function.name
        if file is None or not line or not name:
            return None
        text = self._text(file)
        macros = self._defined(function)
        if text is None or macros is None:
            return None
        tokens = _function_tokens(text, line, name.partition("<")[0])
        return _Body(tokens, macros, function.unit.is_cxx, file) if tokens is not None else None

    def _text(self, file: SourceFile) -> str | None:
        """The text of a file as it was compiled; None when that is not to be had."""
        key = file.path, file.md5
        if key not in self._texts:
            self._texts[key] = self._read(file)
        return self._texts[key]

    def _read(self, file: SourceFile) -> str | None:
        if file.source is not None:
            return file.source
        if file.md5 is None:
            return None
        try:
            path = self._sources.text(file).path
            data = read_regular(path, _MOST_BYTES) if path is not None else b""
        except (SourceError, FileAccessError, OSError, ValueError):
            return None
        if hashlib.md5(data, usedforsecurity=False).digest() != file.md5:
            return None
        return data.decode("utf-8", "replace")

    def _defined(self, function: Function) -> dict[str, str] | None:
        """What the files of a unit define as macros; None if there are too many files."""
        unit = function.unit
        if unit.offset not in self._macros:
            files = unit.files
            found: dict[str, str] | None = {} if len(files) <= _MOST_FILES else None
            for file in files if found is not None else ():
                for name, rest in _DEFINE.findall(self._text(file) or ""):
                    assert found is not None
                    found[name] = f"{found.get(name, '')} {rest}"
            self._macros[unit.offset] = found
        return self._macros[unit.offset]


def _variables(scope: Scope, depth: int) -> Iterator[Variable]:
    """The variables of a function and its blocks, not those of inlined calls."""
    yield from scope.variables
    for child in scope.children if depth < 64 else ():
        if isinstance(child, LexicalBlock):
            yield from _variables(child, depth + 1)


def _is_scalar(type_: Type) -> bool:
    bare = type_.bare
    if Qualifier.VOLATILE in _qualifiers(type_) or Qualifier.ATOMIC in _qualifiers(type_):
        return False
    return isinstance(bare, BaseType | EnumType) or (
        isinstance(bare, PointerType) and bare.kind is PointerKind.POINTER
    )


def _is_const(type_: Type) -> bool:
    return Qualifier.CONST in _qualifiers(type_)


def _qualifiers(type_: Type) -> set[Qualifier]:
    """The outer qualifiers, those in typedefs included."""
    found: set[Qualifier] = set()
    for _ in range(100):
        if isinstance(type_, QualifiedType):
            found.add(type_.qualifier)
            type_ = type_.target
        elif isinstance(type_, TypedefType):
            type_ = type_.target
        else:
            break
    return found


class _Token(Struct, frozen=True):
    """A token: its text ("" for strings) and line."""

    text: str
    line: int
    is_name: bool


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if match["skip"] is None:
            is_string = match["string"] is not None or match[0][0] == "'"
            yield _Token("" if is_string else match[0], line, kind == "name")
        line += match[0].count("\n")


def _function_tokens(text: str, line: int, name: str) -> list[_Token] | None:
    """The tokens of a function's definition, from its name to its last brace."""
    found: list[_Token] = []
    depth = 0
    for token in _tokens(text):
        if not found and (token.line < line or token.text != name):
            if token.line > line:
                return None
            continue
        found.append(token)
        if len(found) > _MOST_TOKENS or (token.text in _SUSPICIOUS and token.text != "goto"):
            return None
        if token.text == "{":
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0:
                return found
        elif token.text == ";" and depth == 0:
            return None
    return None


class _Body:
    """The text of a function."""

    def __init__(self, tokens: list[_Token], macros: dict[str, str], is_cxx: bool, file: SourceFile) -> None:
        self._tokens = tokens
        self._is_cxx = is_cxx
        self._file = file
        self._opener: list[int | None] = []
        """Of each token, the bracket it is in."""
        stack: list[int] = []
        names: set[str] = set()
        self.calls: set[str] = set()
        """Names that parentheses follow, behind the parameters."""
        body = False
        for index, token in enumerate(tokens):
            if token.text in (")", "]", "}") and stack:
                stack.pop()
            self._opener.append(stack[-1] if stack else None)
            if token.text in ("(", "[", "{"):
                stack.append(index)
                body = body or (token.text == "{" and len(stack) == 1)
            if token.is_name:
                names.add(token.text)
                following = tokens[index + 1].text if index + 1 < len(tokens) else ""
                if body and following in ("(", "<<<") and token.text not in _CONDITIONS | {"for"}:
                    self.calls.add(token.text)
        self._hidden = " ".join(macros[name] for name in names if name in macros)
        self._macros = macros
        texts = {token.text for token in tokens}
        self._jumps = "goto" in texts
        # a name in capitals that no file defines may be a macro of a file that is not there
        self._is_obscure = any(
            _MACRO_LIKE.fullmatch(name) is not None and name not in macros for name in names
        ) or "##" in self._hidden
        self._captures = any(
            tokens[index].text == "[" and tokens[index + 1].text in ("&", "=") for index in range(len(tokens) - 1)
        )

    def keeps(self, variable: Variable) -> bool:
        """Whether a variable's value never changes once it has one, and it comes to life once for a call."""
        name = variable.name
        if not name or self._is_obscure or self._captures or re.search(rf"\b{re.escape(name)}\b", self._hidden):
            return False
        tokens = self._tokens
        places = [
            index for index, token in enumerate(tokens)
            if token.text == name and index and tokens[index - 1].text not in (".", "->", "::")
        ]
        if not places:
            return False
        first = places[0]
        if tokens[first].line != variable.decl_line or variable.decl_file != self._file or not self._declares(first):
            return False
        if variable.is_parameter:
            if self._opener[first] != 1 or tokens[1].text != "(":
                return False
        elif self._jumps or not self._is_outside_loops(first) or tokens[first + 1].text not in ("=", "(", "{", ";"):
            return False
        return not any(self._may_change(index) for index in places[1:])

    def _declares(self, index: int) -> bool:
        before = self._tokens[index - 1]
        return before.text in ("*", ">") or (before.is_name and before.text not in _NO_OPERAND)

    def _is_outside_loops(self, index: int) -> bool:
        """Whether all braces around a token are the function's, of blocks, or of if and else."""
        opener = self._opener[index]
        while opener is not None:
            if self._tokens[opener].text != "{":
                return False
            outer = self._opener[opener]
            before = self._tokens[opener - 1]
            if outer is None:
                return True
            if before.text == ")":
                start = self._start_of(opener - 1)
                if start is None or self._tokens[start - 1].text != "if" or self._follows_loop(start - 1):
                    return False
            else:
                is_block = before.text in ("{", "}", ";") or (before.text == "else" and self._is_plain_else(opener - 1))
                if not is_block:
                    return False
            opener = outer
        return False

    def _start_of(self, closing: int) -> int | None:
        """The parenthesis that the one at ``closing`` closes."""
        return closing - 1 if self._tokens[closing - 1].text == "(" else self._opener[closing - 1]

    def _follows_loop(self, index: int) -> bool:
        """Whether what begins at a token is the body of a loop without braces (or may be)."""
        before = self._tokens[index - 1].text
        return before not in ("{", "}", ";") and not (before == "else" and self._is_plain_else(index - 1))

    def _is_plain_else(self, index: int) -> bool:
        """Whether the if of an else is in no loop of its own: only seen where that has braces before it."""
        return self._tokens[index - 1].text == "}" and self._if_of_braces(index - 1)

    def _if_of_braces(self, closing: int) -> bool:
        depth = 0
        for index in range(closing, 0, -1):
            depth += {"}": 1, "{": -1}.get(self._tokens[index].text, 0)
            if depth == 0:
                before = self._tokens[index - 1].text
                if before == ")":
                    start = self._start_of(index - 1)
                    return (
                        start is not None and self._tokens[start - 1].text == "if"
                        and not self._follows_loop(start - 1)
                    )
                return before == "else" and self._is_plain_else(index - 1)
        return False

    def _may_change(self, index: int) -> bool:
        tokens = self._tokens
        before, following = tokens[index - 1], tokens[index + 1]
        if following.text in _ASSIGNMENTS or before.text in _DIRECT:
            return True
        if before.is_name and before.text not in _NO_OPERAND | _CONDITIONS:
            return True  # declared again
        if before.text in _REFERENCES and before.text not in ("&&", "and"):
            left = tokens[index - 2]
            is_operand = left.is_name and left.text not in _NO_OPERAND | _CONDITIONS | _NUMBERS
            if not is_operand and not (left.text and left.text[0].isdigit()) and left.text != "]":
                return True
        if before.text in ("=", "(", "{") and index >= 3 and tokens[index - 2].is_name and (
            tokens[index - 3].text in _REFERENCES
        ):
            return True
        if before.text == ">>" and self._is_cxx and following.text in (";", ",", ">>"):
            return True  # maybe a stream
        if before.text not in ("(", ",", "{", "?", ":") or following.text not in (")", ",", "}", ":"):
            # "cond ? x : y" may be an lvalue, not so if x is an operand of something
            return self._is_cxx and before.text in ("?", ":") and following.text in (";", ":", ")", "]", "}", ",")
        return self._may_bind(index)

    def _may_bind(self, index: int) -> bool:
        """Whether a variable that stands alone between brackets and commas may be bound to a reference there."""
        opener = self._opener[index]
        if opener is None or self._tokens[opener].text != "(":
            return self._is_cxx or self._tokens[index - 1].text == "("
        callee = self._tokens[opener - 1]
        if callee.text in _CONDITIONS | _NUMBERS and self._tokens[index - 1].text != ",":
            return False
        if not callee.is_name or callee.text in self._macros:
            return True
        return self._is_cxx and not callee.text.startswith("__builtin_")
