"""Reads functions: blocks, instructions with their names and types, and debug records in every notation.

Of an instruction, only what debug information needs is kept: the name and type of its result, its successors, and its
debug information. The type is not known for instructions of an unknown kind, nor for the words that represent code in
the specification's listings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rocdbg.llvmdi.errors import ReadError
from rocdbg.llvmdi.llvm_constants import parse_operand, parse_value
from rocdbg.llvmdi.llvm_lexer import Kind, Token
from rocdbg.llvmdi.llvm_types import (
    ArrayType,
    FunctionType,
    IntType,
    NamedType,
    OpaqueType,
    PointerType,
    StructType,
    Type,
    VectorType,
    is_type_start,
    parse_type,
)
from rocdbg.llvmdi.module import Attachment, Block, Field, Function, Instruction, Node, Operand, Parameter
from rocdbg.llvmdi.node_reader import MetadataReader
from rocdbg.llvmdi.token_cursor import Cursor, unquoted

__all__ = ["FunctionReader", "read_header"]

_TERMINATORS = frozenset((
    "ret", "br", "switch", "indirectbr", "invoke", "callbr", "resume", "unreachable", "catchswitch", "catchret",
    "cleanupret", "return", "RETURN", "S_ENDPGM",
))  # fmt: skip
_BINARY = frozenset((
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor", "fadd", "fsub",
    "fmul", "fdiv", "frem", "fneg", "freeze", "phi", "va_arg", "insertelement", "insertvalue",
    "landingpad",
))  # fmt: skip
_CASTS = frozenset((
    "trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "ptrtoint", "ptrtoaddr",
    "inttoptr", "bitcast", "addrspacecast",
))  # fmt: skip
_CALLS = frozenset(("call", "invoke", "callbr"))
_CALL_PREFIXES = frozenset(("tail", "musttail", "notail"))
_INTRINSICS = {
    "@llvm.dbg.value": "value", "@llvm.dbg.declare": "declare", "@llvm.dbg.addr": "declare",
    "@llvm.dbg.assign": "assign", "@llvm.dbg.label": "label", "@llvm.dbg.def": "def", "@llvm.dbg.kill": "kill",
}  # fmt: skip
_PSEUDO = {"DBG_DEF": "def", "DBG_KILL": "kill", "DBG_LABEL": "label"}
_RECORDS = {
    "#dbg_value": "value", "#dbg_declare": "declare", "#dbg_declare_value": "declare", "#dbg_assign": "assign",
    "#dbg_label": "label", "#dbg_def": "def", "#dbg_kill": "kill",
}  # fmt: skip


def _is_type_before(token: Token) -> bool:
    """Whether a name before this token is a type's and not a value's."""
    return token.kind in (Kind.LOCAL, Kind.GLOBAL) or token.text in (
        ",", "[", "undef", "poison", "zeroinitializer", "{", "*", "addrspace",
    )  # fmt: skip


def _type_here(cursor: Cursor) -> Type | None:
    """The next type, after flags and attributes such as `nsw` and `range(i32 0, 5)`; None if the line ends before."""
    while not cursor.at_end:
        if is_type_start(cursor) and (cursor.token.kind != Kind.LOCAL or _is_type_before(cursor.ahead())):
            return parse_type(cursor)
        token = cursor.token
        if token.text == "=" and cursor.tokens[cursor.index - 1].kind == Kind.STRING:
            cursor.take()  # "attribute"="value"
            continue
        if token.kind == Kind.PUNCTUATION and token.text not in "(|":
            return None
        if token.kind in (Kind.GLOBAL, Kind.LOCAL):
            return None
        if token.text == "(":
            cursor.skip_group()
        else:
            cursor.take()
    return None


def read_header(cursor: Cursor, metadata: MetadataReader) -> Function:
    """The header of a `define`, or a `declare`; the cursor is after that word."""
    start = cursor.token
    result = _type_here(cursor)
    name = cursor.expect_kind(Kind.GLOBAL, "the name of a function")
    cursor.expect("(")
    parameters: list[Parameter] = []
    unnamed = 0
    while not cursor.accept(")"):
        if parameters:
            cursor.expect(",")
        if cursor.token.kind == Kind.ELLIPSIS:
            cursor.take()
            continue
        type = parse_type(cursor)
        given = ""
        while cursor.text not in (",", ")") and not cursor.at_end:
            token = cursor.token
            if token.kind == Kind.LOCAL:
                given = unquoted(cursor.take().text)
            elif token.text in "([{<":
                cursor.skip_group()
            else:
                cursor.take()
        if not given:
            given = f"%{unnamed}"
            unnamed += 1
        elif given == f"%{unnamed}":
            unnamed += 1
        parameters.append(Parameter(given, type))
    attachments = []
    while not cursor.at_end and cursor.text != "{":
        token = cursor.take()
        if token.kind == Kind.META:
            attachments.append(Attachment(token.text[1:], metadata.value()))
        elif token.text == "(":
            cursor.index -= 1
            cursor.skip_group()
    return Function(unquoted(name.text), result, tuple(parameters), [], tuple(attachments), start.offset)


class FunctionReader:
    """Reads lines of a function's body into its blocks."""

    def __init__(self, function: Function, metadata: MetadataReader, named: Mapping[str, Type]) -> None:
        self.function = function
        self.named = named
        self.metadata = metadata
        self.cursor = metadata.cursor
        self.unnamed = sum(1 for parameter in function.parameters if parameter.name[1:].isdecimal())
        self.types: dict[str, Type | None] = {parameter.name: parameter.type for parameter in function.parameters}
        self.miscounted = False
        """Whether the last debug instruction has too few or too many arguments."""

    def label(self, token: Token) -> None:
        """A label: a block begins."""
        text = unquoted(token.text[:-1])
        if self.function.pseudo:
            text = text.lstrip("%$")
        if self.function.blocks or text.isdecimal():
            self.unnamed = int(text) + 1 if text.isdecimal() and len(text) < 10 else self.unnamed
        if any(block.label == text for block in self.function.blocks[-1:]):
            raise self.cursor.error(f"the label '{text[:40]}' occurs twice", token)
        self.function.blocks.append(Block(text, [], token.offset))

    def line(self) -> None:
        """One instruction, from the cursor to its end."""
        blocks = self.function.blocks
        cursor = self.cursor
        if not blocks or (blocks[-1].instructions and blocks[-1].instructions[-1].terminator):
            # A block without a label is the entry or follows a terminator; LLVM numbers such blocks, too.
            label = str(self.unnamed) if not self.function.pseudo else f"line {len(blocks)}"
            self.unnamed += 1
            blocks.append(Block(label, [], cursor.token.offset))
        start = cursor.index
        try:
            instruction = self._instruction()
        except ReadError:
            cursor.depth, cursor.exact = 0, False
            counted = cursor.tokens[start].text in _PSEUDO and self.miscounted
            if not self.function.pseudo or cursor.tokens[start].kind == Kind.RECORD or counted:
                raise
            # Pseudo code: `EXEC = ~EXEC & %3`. It counts as code, regardless of its text.
            cursor.index = start
            instruction = Instruction(cursor.tokens[start].text, offset=cursor.tokens[start].offset)
        if not instruction.name and instruction.type is not None and not self.function.pseudo:
            # LLVM numbers instructions that have a value but no name.
            instruction = replace(instruction, name=f"%{self.unnamed}")
        if instruction.name:
            self.types[instruction.name] = instruction.type
            if instruction.name[1:].isdecimal() and len(instruction.name) < 10:
                self.unnamed = int(instruction.name[1:]) + 1
        blocks[-1].instructions.append(instruction)
        cursor.index = cursor.end

    def _instruction(self) -> Instruction:
        cursor = self.cursor
        start = cursor.token
        if start.kind == Kind.RECORD:
            return self._record()
        if start.text in _PSEUDO:
            cursor.take()
            arguments = self._arguments(None)
            return self._debug(_PSEUDO[start.text], arguments, start)
        name = ""
        if start.kind in (Kind.LOCAL, Kind.REGISTER) and cursor.ahead().text == "=":
            name = unquoted(cursor.take().text)
            cursor.take()
        if name and is_type_start(cursor) and cursor.token.kind != Kind.LOCAL:
            # The listings' `%x = i64 ...`: a value of that type, computed somehow.
            return Instruction("...", name, parse_type(cursor), offset=start.offset)
        while cursor.text in _CALL_PREFIXES:
            cursor.take()
        token = cursor.token
        if token.kind not in (Kind.WORD, Kind.ELLIPSIS):
            if not self.function.pseudo:
                raise cursor.error("expected an instruction")
            return Instruction(token.text, name, offset=start.offset)
        opcode = cursor.take().text
        if opcode in _CALLS:
            return self._call(opcode, name, start)
        type: Type | None
        allocated: Type | None = None
        if opcode == "alloca":
            type, allocated = self._alloca()
        else:
            mark = cursor.index
            try:
                type = self._result(opcode)
            except ReadError:
                if opcode in _BINARY or opcode in _CASTS:
                    raise
                type = None  # an instruction whose kind is not known
                cursor.depth, cursor.exact = 0, False
            cursor.index = mark
        terminator = opcode in _TERMINATORS
        targets, attachments = self._rest(terminator)
        return Instruction(
            opcode, name, type, "", (), targets, terminator, attachments, start.offset, allocated=allocated
        )

    def _alloca(self) -> tuple[Type, Type]:
        cursor = self.cursor
        cursor.accept("inalloca")
        cursor.accept("swifterror")
        allocated = parse_type(cursor)
        space = 0
        mark = cursor.index
        count = 1
        while not cursor.at_end:
            if cursor.text == "addrspace":
                cursor.take()
                cursor.expect("(")
                space = cursor.unsigned("the number of an address space")
            elif cursor.text == "," and is_type_start(cursor) is False and isinstance(allocated, Type):
                cursor.take()
                if is_type_start(cursor):
                    operand = parse_operand(cursor)
                    count = operand.value if operand.kind == "constant" else 0
            else:
                cursor.take()
        cursor.index = mark
        if count != 1:
            allocated = ArrayType(count, allocated)
        return PointerType(space), allocated

    def _result(self, opcode: str) -> Type | None:
        """The type of an instruction's result, if it can be known without other instructions."""
        cursor = self.cursor
        if opcode in _CASTS:
            while not cursor.at_end and cursor.text != "to":
                if cursor.text in ("(", "[", "{", "<"):
                    cursor.skip_group()
                else:
                    cursor.take()
            return parse_type(cursor) if cursor.accept("to") else None
        if opcode == "load":
            return _type_here(cursor)
        type = _type_here(cursor)
        if type is None or opcode in _BINARY:
            return type
        if opcode in ("icmp", "fcmp"):
            return VectorType(type.count, IntType(1), type.scalable) if isinstance(type, VectorType) else IntType(1)
        if opcode == "extractelement":
            return type.element if isinstance(type, VectorType) else None
        if opcode in ("select", "getelementptr", "shufflevector", "cmpxchg", "atomicrmw", "extractvalue"):
            return self._result_of_operands(opcode, type)
        return None

    def _result_of_operands(self, opcode: str, first: Type) -> Type | None:
        cursor = self.cursor
        if opcode == "extractvalue":
            parse_value(cursor, first)
            found: Type | None = first
            while cursor.text == "," and cursor.ahead().kind == Kind.NUMBER:
                cursor.take()
                index = cursor.unsigned("an index")
                found = self.named.get(found.name) if isinstance(found, NamedType) else found
                if isinstance(found, StructType):
                    found = found.elements[index] if index < len(found.elements) else None
                else:
                    found = found.element if isinstance(found, ArrayType) else None
            return found
        if opcode == "getelementptr":
            cursor.expect(",")
            base = parse_type(cursor)
            return base if isinstance(base, PointerType | VectorType) else None
        parse_value(cursor, first)
        cursor.expect(",")
        second = parse_operand(cursor)
        if opcode == "shufflevector":
            cursor.expect(",")
            mask = parse_type(cursor)
            whole = isinstance(mask, VectorType) and isinstance(first, VectorType)
            return VectorType(mask.count, first.element, mask.scalable) if whole else None  # type: ignore[attr-defined]
        if opcode == "cmpxchg" and second.type is not None:
            return StructType((second.type, IntType(1)))
        return second.type

    def _call(self, opcode: str, name: str, start: Token) -> Instruction:
        cursor = self.cursor
        type = _type_here(cursor)
        if isinstance(type, FunctionType):
            type = type.result
        callee = unquoted(cursor.text)
        if cursor.token.kind == Kind.GLOBAL and callee in _INTRINSICS:
            cursor.take()
            cursor.expect("(")
            arguments = self._arguments(")")
            return self._debug(_INTRINSICS[callee], arguments, start)
        targets, attachments = self._rest(opcode != "call")
        if isinstance(type, OpaqueType):
            type = None
        return Instruction(opcode, name, type, "", (), targets, opcode != "call", attachments, start.offset)

    def _arguments(self, closing: str | None, is_record: bool = False) -> tuple[Field, ...]:
        """Arguments of a debug intrinsic: `metadata !2, metadata i64 %x`; the word `metadata` may be left out.

        Debug records never have this word.
        """
        cursor = self.cursor
        found: list[Field] = []
        while not (cursor.accept(closing) if closing else cursor.at_end or (cursor.token.kind == Kind.META and found
                   and cursor.tokens[cursor.index - 1].text != ",")):
            if found:
                cursor.expect(",")
            if not is_record:
                cursor.accept("metadata")
            token = cursor.token
            if token.kind in (Kind.REGISTER, Kind.LOCAL):
                found.append(parse_operand(cursor))
            else:
                found.append(self.metadata.value())
        return tuple(found)

    def _record(self) -> Instruction:
        cursor = self.cursor
        start = cursor.take()
        kind = _RECORDS.get(start.text)
        if kind is None:
            raise cursor.error(f"'{start.text[:40]}' is not a debug record", start)
        cursor.expect("(")
        return self._debug(kind, self._arguments(")", is_record=kind not in ("def", "kill")), start)

    def _debug(self, kind: str, arguments: tuple[Field, ...], start: Token) -> Instruction:
        if kind == "def" and len(arguments) == 2 and isinstance(arguments[0], Operand):
            # The listing of "Common Subexpression Elimination" swaps the two.
            self.metadata.spelled(start.offset, "the referrer before the lifetime")
            arguments = (arguments[1], arguments[0])
        if kind == "value" and len(arguments) == 4 and start.kind != Kind.RECORD:
            # Before LLVM 6 the second argument was an offset, always 0.
            arguments = (arguments[0], *arguments[2:])
        count = {"value": 3, "declare": 3, "assign": 6, "label": 1, "def": 2, "kill": 1}[kind]
        if start.kind == Kind.RECORD and kind not in ("def", "kill"):
            count += 1  # its location
        self.miscounted = len(arguments) != count
        if self.miscounted:
            raise self.cursor.error(f"expected {count} arguments, found {len(arguments)}", start)
        arguments = tuple(
            argument.elements if isinstance(argument, Node) and argument.kind == "DIArgList" else argument
            for argument in arguments
        )
        if start.kind == Kind.RECORD and not self.cursor.at_end:
            raise self.cursor.error(f"unexpected '{self.cursor.text[:40]}' after a debug record")
        attachments = self._rest(False)[1]
        return Instruction(start.text, "", None, kind, arguments, (), False, attachments, start.offset)

    def _rest(self, terminator: bool) -> tuple[tuple[str, ...], tuple[Attachment, ...]]:
        """Labels that a terminator names, and attachments."""
        cursor = self.cursor
        targets: list[str] = []
        attachments: list[Attachment] = []
        depth = 0
        while not cursor.at_end:
            token = cursor.take()
            if token.text in ("(", "["):
                depth += 1
            elif token.text in (")", "]"):
                depth -= 1
            if terminator and token.text == "label" and cursor.token.kind == Kind.LOCAL:
                target = unquoted(cursor.take().text)[1:]
                if target not in targets:
                    targets.append(target)
            elif token.kind == Kind.META and depth == 0 and cursor.tokens[cursor.index - 2].text == ",":
                attachments.append(Attachment(token.text[1:], self.metadata.value()))
        return tuple(targets), tuple(attachments)
