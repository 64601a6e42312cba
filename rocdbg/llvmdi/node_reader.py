"""Reads metadata: nodes, tuples, strings, and expressions in both notations."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.llvmdi.dwarf_expressions import DWARF_NAMES, ENCODINGS, NUMBERED, OPERANDS
from rocdbg.llvmdi.llvm_constants import parse_operand, parse_value
from rocdbg.llvmdi.llvm_lexer import Kind
from rocdbg.llvmdi.llvm_types import Type, is_type_start, parse_type
from rocdbg.llvmdi.module import Field, Node, Operand, RawOperation, Ref, Text, Words
from rocdbg.llvmdi.node_kinds import DOCUMENT, KINDS, wrong_value
from rocdbg.llvmdi.token_cursor import Cursor, unquoted

__all__ = ["EXPRESSIONS", "MetadataReader"]

EXPRESSIONS = frozenset({"DIExpr", "DIExpression"})
_SPELLINGS = {"DExprCode": "DIExprCode"}
"""Names of nodes in the specification's listings, and their names in its definitions."""
_NAMED_FIRST = "name"
"""The field to which a string without a field name belongs: `!DILocalVariable("x", ...)`."""


class MetadataReader:
    """Reads the text after `!`.

    `spelled` is called where a listing differs from the specification's definitions; `faults` receives what LLVM would
    reject.
    """

    def __init__(
        self, cursor: Cursor, spelled: Callable[[int, str], None], faults: list[tuple[int, str, bool]] | None = None
    ) -> None:
        self.cursor = cursor
        self.spelled = spelled
        self.faults = [] if faults is None else faults

    def definition(self, name: str) -> Node:
        """What follows `!name =`."""
        cursor = self.cursor
        start = cursor.token
        distinct = cursor.accept("distinct")
        value = self._node_at(distinct, name)
        if value is None:
            raise cursor.error("expected a metadata node", start)
        return value

    def _node_at(self, distinct: bool, name: str = "") -> Node | None:
        cursor = self.cursor
        token = cursor.token
        if token.text == "!" and cursor.ahead().text == "{":
            cursor.take()
            return Node("", {}, self._braced(), (), distinct, token.offset, name)
        if token.kind == Kind.META and cursor.ahead().text == "(":
            cursor.take()
            return self._specialised(token.text[1:], distinct, token.offset, name)
        if token.kind == Kind.WORD and token.text.startswith("DI") and cursor.ahead().text == "(":
            cursor.take()
            self.spelled(token.offset, f"'{token.text}' without '!'")
            return self._specialised(token.text, distinct, token.offset, name)
        return None

    def _braced(self) -> tuple[Field, ...]:
        """`{ ... }`, after `!` or, in argObjects and retainedNodes of the specification, alone."""
        cursor = self.cursor
        cursor.expect("{")
        items: list[Field] = []
        while not cursor.accept("}"):
            if items:
                cursor.expect(",")
                if cursor.accept("}"):
                    break
            items.append(self.value())
        return tuple(items)

    def value(self) -> Field:
        """An item of a tuple, or what follows the name of a field."""
        cursor = self.cursor
        cursor.deeper()
        result = self._value()
        cursor.depth -= 1
        return result

    def _value(self) -> Field:
        cursor = self.cursor
        token = cursor.token
        if token.text == "distinct":
            cursor.take()
            node = self._node_at(True)
            if node is None:
                raise cursor.error("expected a metadata node")
            return node
        node = self._node_at(False)
        if node is not None:
            return node
        if token.kind == Kind.META:
            cursor.take()
            return Ref(token.text[1:], token.offset)
        if token.text == "!":
            cursor.take()
            string = cursor.expect_kind(Kind.STRING, "a string or a tuple")
            return Text(unquoted(string.text))
        if token.kind == Kind.STRING:
            cursor.take()
            return Text(unquoted(token.text))
        if token.text == "{" and not self._is_structure():
            return self._braced()
        if token.kind == Kind.NUMBER:
            cursor.take()
            if not token.text.lstrip("+-").isdecimal() or len(token.text) > 400:
                raise cursor.error(f"'{token.text[:40]}' is not the number of a metadata node", token)
            return int(token.text)
        if token.kind == Kind.ELLIPSIS:
            cursor.take()
            return Words("...")
        if token.text == "null":
            cursor.take()
            return None
        if is_type_start(cursor) or token.kind == Kind.REGISTER:
            return parse_operand(cursor)
        if token.kind == Kind.WORD:
            return self._words()
        raise cursor.error("expected metadata")

    def _is_structure(self) -> bool:
        """Whether a brace begins a type, `{ i8, ptr } %x`, and not a tuple of the specification, `{!1, !2}`."""
        following = self.cursor.ahead()
        if following.text == "}":
            return self.cursor.ahead(2).text in ("{", "zeroinitializer", "undef", "poison")
        return following.kind not in (Kind.META, Kind.ELLIPSIS) and following.text not in ("!", "null", "distinct")

    def _words(self) -> Words:
        cursor = self.cursor
        words = [cursor.take().text]
        while cursor.accept("|"):
            words.append(cursor.take().text)
        return Words(" | ".join(words))

    def _specialised(self, kind: str, distinct: bool, offset: int, name: str) -> Node:
        if kind in _SPELLINGS:
            self.spelled(offset, f"'{kind}' taken for {_SPELLINGS[kind]}")
            kind = _SPELLINGS[kind]
        if kind in EXPRESSIONS:
            return Node(kind, {}, (), self._operations(kind == "DIExpr"), distinct, offset, name)
        if kind == "DIArgList":
            return Node(kind, {}, self._operands(), (), distinct, offset, name)
        cursor = self.cursor
        cursor.expect("(")
        fields: dict[str, Field] = {}
        known = KINDS.get(kind)
        if known is None and kind not in DOCUMENT:
            self.faults.append((offset, f"there is no kind of node '!{kind[:40]}'", False))
        while not cursor.accept(")"):
            if fields:
                cursor.expect(",")
                if cursor.accept(")"):
                    break
            label = cursor.token
            if label.kind == Kind.LABEL:
                cursor.take()
                field = label.text[:-1]
            elif label.kind == Kind.ELLIPSIS:
                cursor.take()
                fields.setdefault("...", None)
                continue
            elif label.kind == Kind.STRING and _NAMED_FIRST not in fields:
                field = _NAMED_FIRST
            else:
                raise cursor.error("expected the name of a field")
            if field in fields:
                raise cursor.error(f"the field '{field}' occurs twice", label)
            start = cursor.token.offset
            value = fields[field] = self.value()
            form = known.fields.get(field) if known is not None else None
            if form is not None:
                words = wrong_value(field, form, value)
                if words is not None:
                    self.faults.append((start, words, False))
            elif known is not None:
                self.faults.append((label.offset, f"a {kind} has no field '{field[:40]}'", False))
        for field in known.required if known is not None and "..." not in fields else ():
            if field not in fields:
                self.faults.append((offset, f"a {kind} needs the field '{field}'", True))
        return Node(kind, fields, (), (), distinct, offset, name)

    def _operands(self) -> tuple[Operand, ...]:
        cursor = self.cursor
        cursor.expect("(")
        items: list[Operand] = []
        while not cursor.accept(")"):
            if items:
                cursor.expect(",")
            items.append(parse_operand(cursor))
        return tuple(items)

    # Expressions

    def _operations(self, is_document: bool) -> tuple[RawOperation, ...]:
        """The operations of `!DIExpr(...)` and `!DIExpression(...)`, of DIOps and of DWARF's names."""
        cursor = self.cursor
        cursor.expect("(")
        found: list[RawOperation] = []
        while not cursor.accept(")"):
            if found:
                cursor.expect(",")
            token = cursor.token
            if token.kind == Kind.ELLIPSIS:
                cursor.take()
                found.append(RawOperation("...", (), token.offset))
                continue
            if token.kind == Kind.NUMBER and not is_document:
                number = cursor.unsigned("the number of an operation")
                name = NUMBERED.get(number, f"operation {number}")
                found.append(RawOperation(name, self._dwarf_operands(name), token.offset))
                continue
            if token.kind != Kind.WORD:
                raise cursor.error("expected an operation")
            if token.text.startswith("DW_OP_") and token.text not in DWARF_NAMES:
                raise cursor.error(f"there is no operation '{token.text[:40]}'")
            cursor.take()
            if cursor.text == "(":
                found.append(RawOperation(token.text, self._arguments(), token.offset))
            else:
                found.append(RawOperation(token.text, self._dwarf_operands(token.text), token.offset))
        return tuple(found)

    def _arguments(self) -> tuple[int | Type | Operand | str, ...]:
        cursor = self.cursor
        cursor.expect("(")
        cursor.exact = True
        arguments: list[int | Type | Operand | str] = []
        while not cursor.accept(")"):
            if arguments:
                cursor.expect(",")
            if cursor.token.kind == Kind.NUMBER:
                arguments.append(cursor.unsigned("a number that is not negative"))
                continue
            if not is_type_start(cursor):
                raise cursor.error("expected a type, a number or a literal")
            type = parse_type(cursor)
            if cursor.text in (",", ")"):
                arguments.append(type)
            else:
                arguments.append(parse_value(cursor, type))
        cursor.exact = False
        return tuple(arguments)

    def _dwarf_operands(self, name: str) -> tuple[int | str, ...]:
        """The numbers and encodings that an operation takes: each is a separate item after it."""
        cursor = self.cursor
        operands: list[int | str] = []
        while cursor.text == "," and len(operands) < OPERANDS.get(name, 4):
            following = cursor.ahead()
            if following.kind == Kind.NUMBER:
                cursor.take()
                number = cursor.unsigned("an operand that is not negative")
                if number >> 64:
                    raise cursor.error(f"{number} does not fit into 64 bits", following)
                operands.append(number)
            elif following.kind == Kind.WORD and following.text.startswith("DW_ATE_"):
                cursor.take()
                if following.text not in ENCODINGS:
                    raise cursor.error(f"there is no encoding '{following.text[:40]}'")
                operands.append(cursor.take().text)
            else:
                break
        return tuple(operands)
