"""Reading LLVM assembly text (.ll): the entry points.

    module = rocdbg.llvmdi.read("kernel.ll")        # bitcode too, where llvm-dis is installed
    module = rocdbg.llvmdi.read_text(text, "name")

Instructions outside of a function, as in the specification's listings and its pseudo MIR, belong to one function
without a name.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from rocdbg.llvmdi.datalayout import AMDGCN_LAYOUT, parse_layout
from rocdbg.llvmdi.errors import NotWellFormed, ReadError
from rocdbg.llvmdi.function_reader import FunctionReader, read_header
from rocdbg.llvmdi.llvm_lexer import Kind, Source, Token, tokenize
from rocdbg.llvmdi.llvm_types import Type, is_type_start, is_type_word, parse_type
from rocdbg.llvmdi.module import Attachment, Function, GlobalVariable, Module, Node
from rocdbg.llvmdi.node_reader import MetadataReader
from rocdbg.llvmdi.token_cursor import Cursor, unquoted
from rocdbg.regular_file import FileAccessError, read_regular
from rocdbg.text import decode_lines
from rocdbg.work import unit

__all__ = ["read", "read_text"]

PSEUDO_FUNCTION = "@"
"""The name of the function that contains the instructions outside all other functions."""
MAX_SIZE = 1 << 26
"""Bytes of a module's file, and of the text of bitcode."""
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_DISASSEMBLERS = (*(f"llvm-dis-{version}" for version in range(25, 13, -1)), "llvm-dis")
_MOST_SECONDS = 120
_MOST_MEMORY = 4 << 30
"""Limit on the address space of llvm-dis in bytes: a few bytes of bitcode can make it request all of the machine's
memory.
"""
_SKIPPED = frozenset(("attributes", "uselistorder", "uselistorder_bb", "module", "comdat", "source_filename"))
_CONTINUED = frozenset(("to", "unwind", "cleanup", "catch", "filter", ",", ")", "]"))
_OPEN = {"(": ")", "[": "]", "{": "}"}


def read(path: str | Path) -> Module:
    """The module in a file of LLVM assembly or bitcode; `ReadError` if it cannot be read."""
    try:
        data = read_regular(path, MAX_SIZE)
    except FileAccessError as error:
        raise ReadError(str(error)) from None
    if data[:4] in _BITCODE:
        data = _disassembled(path, data)
    return read_text(decode_lines(data), str(path))


def _disassembled(path: str | Path, bitcode: bytes) -> bytes:
    """The text of bitcode, from the newest llvm-dis found: older ones cannot read newer bitcode."""
    tools = list(filter(None, map(shutil.which, _DISASSEMBLERS)))
    if not tools:
        raise ReadError(f"{path} is bitcode; install llvm-dis, or give the module as text (.ll)")
    words = ""
    for tool in tools:
        status, text, complaint = _output_of(tool, path, bitcode)
        if status == 0:
            return text
        words = words or decode_lines(complaint).strip().partition("\n")[0]
    raise ReadError(f"{path}: llvm-dis cannot read it: {words[:200]}")


def _output_of(tool: str, path: str | Path, bitcode: bytes) -> tuple[int, bytes, bytes]:
    """Run one llvm-dis; return its exit status, its output of at most `MAX_SIZE` bytes, and its error messages. The
    tool runs in a process with limits. It gets the bytes that were checked, and does not read the file again.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaint:
        try:
            given.write(bitcode)
            given.seek(0)
            child = subprocess.Popen([tool, "-o", "-", "-"], stdin=given, stdout=subprocess.PIPE, stderr=complaint)
        except OSError as error:
            raise ReadError(f"{path}: llvm-dis failed: {error}") from None
        with child:
            assert child.stdout is not None
            watch = threading.Timer(_MOST_SECONDS, child.kill)
            watch.start()
            try:
                with suppress(OSError):  # it has ended already
                    resource.prlimit(child.pid, resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
                text = child.stdout.read(MAX_SIZE + 1)
                if len(text) > MAX_SIZE:
                    raise ReadError(f"{path}: the text of the module has more than {MAX_SIZE} bytes")
                status = child.wait()
            finally:
                child.kill()
                timed_out = not watch.is_alive()
                watch.cancel()
        if timed_out:
            raise ReadError(f"{path}: llvm-dis took more than {_MOST_SECONDS} seconds")
        complaint.seek(0)
        return status, text, complaint.read(4096)


def read_text(text: str, name: str = "<text>") -> Module:
    """The module that a text describes; `ReadError` with file, line and column if it is not one."""
    source = Source(text, name)
    return _Reader(source).module()


class _Reader:
    """Walks the lines of a text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.cursor = Cursor(source, tokenize(source))
        self.size = self.cursor.end
        self.named_types: dict[str, Type] = {}
        self.result = Module(source, parse_layout(AMDGCN_LAYOUT, self.named_types))
        self.metadata = MetadataReader(self.cursor, self._spelled, self.result.faults)
        self.body: FunctionReader | None = None
        self.pseudo: FunctionReader | None = None
        self.in_function = False

    def _spelled(self, offset: int, words: str) -> None:
        self.result.spellings.append((offset, words))

    def module(self) -> Module:
        cursor = self.cursor
        while cursor.index < self.size:
            unit()
            start = cursor.index
            token = cursor.tokens[start]
            if token.kind == Kind.LABEL and (token.first or self.in_function):
                self._function().label(token)
                cursor.end = cursor.index = start + 1
            elif self.in_function and token.text == "}":
                self.in_function = False
                cursor.end = cursor.index = start + 1
            else:
                cursor.end = self._line_end(start)
                if self.in_function:
                    self._function().line()
                else:
                    self._statement()
                if cursor.index < cursor.end:
                    if token.kind != Kind.META or cursor.token.kind not in (Kind.META, Kind.WORD):
                        raise cursor.error(f"unexpected '{cursor.text[:40]}'")
                    cursor.end = cursor.index  # the next statement begins in the same line
            cursor.index = cursor.end
            cursor.end = self.size
            cursor.depth = 0
        if self.in_function:
            raise cursor.error("the function's body does not end", cursor.tokens[self.size])
        return self.result

    def _line_end(self, start: int) -> int:
        """The index after the last token of the statement at `start`: open brackets and some words continue it."""
        tokens = self.cursor.tokens
        open_ones: list[str] = []
        index = start
        is_header = False
        while index < self.size:
            token = tokens[index]
            begins = token.first and index > start and not open_ones and not is_header
            if begins and not self._continues(index):
                break
            is_header = is_header or (token.kind == Kind.GLOBAL and tokens[start].text == "define")
            if token.kind == Kind.PUNCTUATION:
                if token.text in _OPEN:
                    if token.text == "{" and not open_ones and is_header:
                        return index + 1
                    open_ones.append(_OPEN[token.text])
                elif open_ones and token.text == open_ones[-1]:
                    open_ones.pop()
                elif token.text == "}" and self.in_function and not open_ones and index > start:
                    break
                elif token.text in ")]}":
                    raise self.source.error(f"'{token.text}' has no matching opening bracket", token.offset)
            index += 1
        if open_ones:
            raise self.source.error(f"expected '{open_ones[-1]}', found the end of the text", tokens[self.size].offset)
        return index

    def _continues(self, index: int) -> bool:
        """Whether a token at the start of a line continues the previous statement, which may span lines."""
        previous, token, following = self.cursor.tokens[index - 1 : index + 2]
        if token.text in _CONTINUED or previous.text in ("=", ",") or token.kind in (Kind.STRING, Kind.NUMBER):
            return True
        if not self.in_function or token.text == "}":
            return False
        if token.kind in (Kind.GLOBAL, Kind.META, Kind.ATTRIBUTE, Kind.PUNCTUATION):
            return True
        if token.kind == Kind.LOCAL:
            return following.text != "="
        return token.kind == Kind.WORD and is_type_word(token.text)

    def _function(self) -> FunctionReader:
        """The function being read; outside any, the nameless one of the listings."""
        if self.in_function:
            assert self.body is not None
            return self.body
        if self.pseudo is None:
            function = Function(PSEUDO_FUNCTION, None, pseudo=True, offset=self.cursor.tokens[0].offset)
            self.result.functions[PSEUDO_FUNCTION] = function
            self.pseudo = FunctionReader(function, self.metadata, self.named_types)
        return self.pseudo

    def _statement(self) -> None:
        cursor = self.cursor
        token = cursor.token
        following = cursor.ahead().text
        if token.kind == Kind.META and following == "=":
            self._metadata()
        elif token.kind == Kind.GLOBAL and following == "=":
            self._global()
        elif token.kind == Kind.LOCAL and following == "=" and cursor.ahead(2).text == "type":
            self._type()
        elif token.text in ("define", "declare") and token.kind == Kind.WORD:
            self._header(cursor.take().text == "define")
        elif token.text == "target" and following in ("datalayout", "triple"):
            self._target()
        elif self._is_beside_the_point(token):
            cursor.index = cursor.end
        else:
            self._function().line()

    def _is_beside_the_point(self, token: Token) -> bool:
        """Whether a token begins something that does not concern debug information: attributes, the module's name,
        summaries, comdats.
        """
        if token.kind == Kind.WORD:
            return token.text in _SKIPPED
        is_comdat = self.cursor.ahead().text == "=" and self.cursor.ahead(2).text == "comdat"
        return token.text == "^" or (token.kind == Kind.REGISTER and is_comdat)

    def _metadata(self) -> None:
        cursor = self.cursor
        token = cursor.take()
        cursor.take()
        name = token.text[1:]
        node = self.metadata.definition(name)
        # Named metadata is a tuple that is not distinct; the specification's pseudo code names all nodes.
        table = self.result.nodes if name.isdecimal() or node.kind or node.distinct else self.result.named
        if name in self.result.nodes or name in self.result.named:
            raise cursor.error(f"!{name[:40]} is defined twice", token)
        table[name] = node

    def _type(self) -> None:
        cursor = self.cursor
        name = cursor.take()
        cursor.take()
        cursor.take()
        if name.text in self.named_types:
            raise cursor.error(f"the type {name.text[:40]} is defined twice", name)
        self.named_types[name.text] = parse_type(cursor)

    def _target(self) -> None:
        cursor = self.cursor
        cursor.take()
        what = cursor.take().text
        cursor.expect("=")
        token = cursor.expect_kind(Kind.STRING, "a string")
        if what == "triple":
            self.result.triple = unquoted(token.text)
            return
        try:
            self.result.layout = parse_layout(unquoted(token.text), self.named_types)
        except NotWellFormed as error:
            raise cursor.error(error.reason, token) from None

    def _global(self) -> None:
        """`@g = ... addrspace(1) global i64 0, !dbg !5`, and the listings' `@g = i64, addrspace(1) !dbg.def !2`."""
        cursor = self.cursor
        token = cursor.take()
        name = unquoted(token.text)
        cursor.take()
        type: Type | None = None
        space = 0
        attachments: list[Attachment] = []
        if is_type_start(cursor):
            type = parse_type(cursor)
        while not cursor.at_end:
            word = cursor.take()
            if word.text == "addrspace" and cursor.accept("("):
                space = cursor.unsigned("the number of an address space")
            elif word.text in ("global", "constant", "alias", "ifunc") and type is None and is_type_start(cursor):
                type = parse_type(cursor)
            elif word.text in ("{", "[", "("):
                cursor.index -= 1
                cursor.skip_group()
            elif word.kind == Kind.META:
                attachments.append(Attachment(word.text[1:], self.metadata.value()))
        if name in self.result.globals or name in self.result.functions:
            raise cursor.error(f"{name[:40]} is defined twice", token)
        self.result.globals[name] = GlobalVariable(name, type, space, tuple(attachments), token.offset)

    def _header(self, defined: bool) -> None:
        cursor = self.cursor
        leading: list[Attachment] = []
        while not defined and cursor.token.kind == Kind.META:  # `declare !dbg !5 void @f()`
            kind = cursor.take().text[1:]
            leading.append(Attachment(kind, self.metadata.value()))
        function = read_header(cursor, self.metadata)
        if leading:
            function.attachments = (*leading, *function.attachments)
        if function.name in self.result.functions or function.name in self.result.globals:
            raise self.source.error(f"{function.name[:40]} is defined twice", function.offset)
        self.result.functions[function.name] = function
        if defined:
            cursor.expect("{")
            self.in_function = True
            self.body = FunctionReader(function, self.metadata, self.named_types)
        else:
            cursor.index = cursor.end


def subprogram(module: Module, function: Function) -> Node | None:
    """The DISubprogram of a function, if it has one; for the listings' code, the only one in the text."""
    for attachment in function.attachments:
        if attachment.kind == "dbg":
            return module.node(attachment.value, "DISubprogram")
    if function.pseudo:
        found = [node for node in module.nodes.values() if node.kind == "DISubprogram"]
        return found[0] if len(found) == 1 else None
    return None
