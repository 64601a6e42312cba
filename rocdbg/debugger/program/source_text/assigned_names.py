"""Finds the names that a function's text assigns from given tokens, directly or through other names."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import pairwise
from typing import Final

from msgspec import Struct

from rocdbg.debugger.program.source_text.source_tokens import Token
from rocdbg.work import unit

_ASSIGNMENTS: Final = frozenset(
    {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "and_eq", "or_eq", "xor_eq"}
)
_BEGINNINGS: Final = frozenset({";", "{", "}", "(", "[", ",", ":", "?"})
_OPENING: Final = frozenset({"(", "[", "{"})
_CLOSING: Final = frozenset({")", "]", "}"})
_BEFORE_OPERAND: Final = frozenset({"(", "[", "{", "}", ")", ",", ";", "=", "return", "?", ":", "&&", "||", "==", "!="})
"""Tokens after which ``&`` takes an address."""
_AFTER_HEAD: Final = frozenset({"*", "&", "(", "{"})
"""Tokens that begin a statement after the bracket of ``if (...)``; no assigned expression has them after ``)``."""
_STATEMENTS: Final = frozenset({"if", "while", "for", "switch", "return", "catch", "sizeof", "alignof", "decltype"})
_TYPES: Final = frozenset(
    {"auto", "bool", "char", "const", "constexpr", "double", "float", "int", "long", "register", "short", "signed",
     "static", "struct", "unsigned", "void", "volatile"}
)  # fmt: skip
"""Words of declarations, which name no object."""
_NUMBERS: Final = frozenset(
    {"auto", "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned"}
)  # fmt: skip
"""Words that end the type in a declaration of an object which cannot be a reference or have a constructor that stores
through its arguments. (The class that ``auto`` may be is copied or moved.)
"""
_PATHS: Final = frozenset({".", "->", "::", "&", "*", "const"})
"""The tokens, other than names and indices, of an argument that names an object."""
_ASSEMBLY: Final = frozenset({"asm", "__asm", "__asm__"})
_OF_ASSEMBLY: Final = frozenset({"volatile", "__volatile__", "inline", "goto"})
_MOST_TEMPLATE_TOKENS: Final = 200
"""Limit on the length of the template arguments between a function's name and its arguments."""


class _Flow(Struct, frozen=True):
    """Names that get values from the tokens in [``begin``, ``end``)."""

    names: frozenset[str]
    begin: int
    end: int
    refers: bool = False
    """Whether this declares references."""
    through: frozenset[str] = frozenset()
    """Names that keep their values; if they are pointers or arrays, the objects to which they lead get values."""


def names_assigned_from(
    tokens: Sequence[Token], is_source: Callable[[int], bool], takes_values: Callable[[str], bool] = lambda name: False
) -> frozenset[str]:
    """Return the names whose values depend on the tokens at some positions.

    The result may contain too many names, but does not lack any. Members and elements count as their objects, and so do
    the objects that a pointer or reference may lead to. The contents of a bracket after a name (``int x(f())``) count
    as assigned to it. In a call they also count as assigned to the object whose member is called, and to the objects
    that the other arguments are or lead to, unless ``takes_values`` reports that the parameters of the function with
    this name are neither pointers nor references. All operands of an inline assembly statement count as assigned from
    all others. Values that only decide what is executed do not count.
    """
    text = _Text(tokens)
    flows = sorted(text.flows(takes_values), key=lambda flow: (flow.begin, -flow.end))
    # Any two expressions are nested or disjoint: those around a token are the innermost one and the ones around that.
    outer, opened = list[int](), list[int]()
    for index, flow in enumerate(flows):
        while opened and flows[opened[-1]].end <= flow.begin:
            opened.pop()
        outer.append(opened[-1] if opened else -1)
        opened.append(index)
    begins = [flow.begin for flow in flows]
    objects = _Objects(tokens, flows, text.passed)
    found, reached = set[str](), set[int]()
    todo = [index for index in range(len(tokens)) if is_source(index)]
    while todo:
        unit()
        place = todo.pop()
        index = bisect_right(begins, place) - 1
        while index >= 0 and flows[index].end <= place:
            index = outer[index]
        while index >= 0 and index not in reached:
            reached.add(index)
            new = objects.changed_by(flows[index]) - found
            found |= new
            todo += (place for name in new for place in text.places[name])
            index = outer[index]
    return frozenset(found)


class _Text:
    """A function's tokens, with their brackets."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self.places = defaultdict[str, list[int]](list)
        for index, token in enumerate(tokens):
            if token.is_name:
                self.places[token.text].append(index)
        self._partners = [-1] * len(tokens)
        """For each bracket, the position of the matching bracket; -1 if there is none."""
        opened = list[int]()
        for index, token in enumerate(tokens):
            if token.text in _OPENING:
                opened.append(index)
            elif token.text in _CLOSING and opened:
                self._partners[index] = opened.pop()
                self._partners[self._partners[index]] = index
        self.passed = set[str]()
        """Names of objects that calls may change."""
        self._ends = self._ends_at(frozenset({";"}))
        self._operand_ends = self._ends_at(frozenset({";", ","}))

    def _ends_at(self, ends: frozenset[str]) -> list[int]:
        """For each token, compute the end of an expression that begins there: before one of ``ends``, or before the
        closing bracket around it.
        """
        found = [len(self._tokens)] * (len(self._tokens) + 1)
        for index in reversed(range(len(self._tokens))):
            text = self._tokens[index].text
            if text in ends or text in _CLOSING:
                found[index] = index
            elif text not in _OPENING:
                found[index] = found[index + 1]
            elif self._partners[index] >= 0:
                found[index] = found[self._partners[index] + 1]
        return found

    def flows(self, takes_values: Callable[[str], bool]) -> Iterator[_Flow]:
        """Yield a flow for each assignment."""
        for index, token in enumerate(self._tokens):
            if token.text in _ASSIGNMENTS:
                begin = self._target(index)
                if names := self._names(begin, index):
                    yield _Flow(names, index + 1, self._operand_ends[index + 1], self._has_reference(begin, index))
            elif token.text in ("(", "{") and (name := self._called(index)) is not None:
                called = self._tokens[name].text
                names, through, refers = frozenset({called}) - _CLOSING, frozenset[str](), False
                if called in _ASSEMBLY:
                    names = self._names(index, self._ends[index + 1])
                    self.passed |= names
                elif called not in _STATEMENTS:
                    changed = self._names(self._member_of(name), name)
                    is_number = name > 0 and self._tokens[name - 1].text in _NUMBERS
                    if not is_number and not takes_values(called):
                        objects, through = self._arguments(index + 1)
                        changed |= objects
                        refers = name > 0 and self._tokens[name - 1].text in ("&", "&&")
                    self.passed |= changed | through
                    names |= changed
                yield _Flow(names, index + 1, self._ends[index + 1], refers, through)
                if called == "for":
                    yield from self._range_of(index + 1)

    def _called(self, bracket: int) -> int | None:
        """Return the index of the name whose arguments or initialisers are in a bracket; for a call of an expression's
        result, ``(*g)(...)`` or ``g[k](...)``, that of the expression's last token. None if the bracket is anything
        else.
        """
        index = bracket - 1
        if index < 0:
            return None
        text = self._tokens[index].text
        if text in _OF_ASSEMBLY:
            while index > 0 and self._tokens[index].text in _OF_ASSEMBLY:
                index -= 1
            return index if self._tokens[index].text in _ASSEMBLY else None
        if self._tokens[index].is_name:
            return index
        partner = self._partners[index]
        if text in (")", "]") and partner >= 0 and self._tokens[bracket].text == "(":
            return index if text == "]" or self._tokens[partner + 1].text == "*" else None
        if text not in (">", ">>"):
            return None
        depth = 0  # of template arguments
        for index in reversed(range(max(0, bracket - _MOST_TEMPLATE_TOKENS), bracket)):
            unit()
            text = self._tokens[index].text
            depth += text.count(">") - text.count("<") if text in (">", ">>", "<") else 0
            if depth == 0:
                return index - 1 if index and self._tokens[index - 1].is_name else None
            if text in (";", "{", "}"):
                return None
        return None

    def _names(self, begin: int, end: int) -> frozenset[str]:
        return frozenset(token.text for token in self._tokens[begin:end] if token.is_name) - _TYPES

    def _target(self, end: int) -> int:
        """Return the beginning of the expression that is assigned to; the expression ends before ``end``."""
        begin = end
        while begin and self._tokens[begin - 1].text not in _BEGINNINGS:
            if self._tokens[begin - 1].text in _CLOSING:
                following = self._tokens[begin]
                if self._partners[begin - 1] < 0 or following.is_name or following.text in _AFTER_HEAD:
                    break
                begin = self._partners[begin - 1]
            else:
                begin -= 1
        return begin

    def _member_of(self, index: int) -> int:
        """Return the beginning of the name of an object whose member is called at ``index``."""
        begin = index
        while begin and self._tokens[begin - 1].text in (".", "->"):
            begin -= 1
            while begin and self._tokens[begin - 1].text in (")", "]") and self._partners[begin - 1] >= 0:
                begin = self._partners[begin - 1]
            if begin and self._tokens[begin - 1].is_name:
                begin -= 1
        return begin

    def _arguments(self, begin: int) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names of the objects that are passed in a bracket, and the names in its other arguments."""
        found, others = set[str](), frozenset[str]()
        last = self._ends[begin]
        while begin < last:
            end, names = self._operand_ends[begin], set[str]()
            index = begin
            while index < end:
                token = self._tokens[index]
                if token.is_name:
                    names.add(token.text)
                elif token.text in ("[", "(") and self._partners[index] >= 0:
                    if token.text == "(" and index > begin and self._tokens[index - 1].is_name:
                        break
                    if token.text == "(":
                        names |= self._names(index, self._partners[index])
                    index = self._partners[index]
                elif token.text not in _PATHS:
                    break
                index += 1
            else:
                found |= names - _TYPES
                begin = max(end, begin) + 1
                continue
            others |= self._names(begin, end)
            begin = max(end, begin) + 1
        return frozenset(found), others

    def _range_of(self, begin: int) -> Iterator[_Flow]:
        """Yield the flow of a range-based ``for``."""
        end = self._ends[begin]
        for index in range(begin, end):
            if self._tokens[index].text == ":" and (names := self._names(begin, index)):
                yield _Flow(names, index + 1, end, self._has_reference(begin, index))
                return

    def _has_reference(self, begin: int, end: int) -> bool:
        """Whether a declaration declares references: ``int &x =``, ``auto &&x :``, ``auto &[x, y] =``."""
        index = begin
        while index < end:
            if self._tokens[index].text in ("&", "&&"):
                return True
            index = max(self._partners[index], index) + 1
        return False


class _Objects:
    """The objects to which pointers and references may lead: objects whose address is assigned to them (``&x``, or an
    array's name), objects to which another assigned pointer leads, and all objects from which a reference is made.
    Names that are neither dereferenced nor copied to such a name lead nowhere.
    """

    def __init__(self, tokens: Sequence[Token], flows: Sequence[_Flow], passed: Set[str]) -> None:
        self._led_to = defaultdict[str, set[str]](set)
        self._tokens = tokens
        self._arrays = {
            token.text for token, after in pairwise(tokens) if token.is_name and after.text == "["
        }
        self._pointers = self._arrays | {
            token.text for index, token in enumerate(tokens) if token.is_name and self._is_dereferenced(index)
        }
        named = [index for index, token in enumerate(tokens) if token.is_name]
        taken = [index for index in named if self._is_address(index)]
        copied = [
            index for index in named if self._text(index - 1) != "*" and self._text(index + 1) not in ("[", "->")
        ]
        for flow in flows:
            unit()
            objects = {tokens[index].text for index in _within(named if flow.refers else taken, flow)}
            for name in flow.names if objects else ():
                self._add(name, objects)
        used = {name for flow in flows if flow.refers for name in flow.names}.union(passed)
        used.update(
            tokens[index].text for index in named
            if self._text(index - 1) == "*" or self._text(index + 1) in ("[", "->")
        )
        count = -1
        while count < len(used):
            count = len(used)
            for flow in flows:
                unit()
                if not used.isdisjoint(flow.names):
                    used.update(tokens[index].text for index in _within(copied, flow))
        self._led_to = defaultdict(set, {name: self._led_to[name] for name in self._led_to.keys() & used})
        pointers = -1
        while pointers < len(self._led_to):
            pointers = len(self._led_to)
            for flow in flows:
                unit()
                inside = {tokens[index].text for index in _within(copied, flow)} & self._led_to.keys()
                for name in flow.names & used if inside else ():
                    self._add(name, inside)

    def _text(self, index: int) -> str:
        return self._tokens[index].text if 0 <= index < len(self._tokens) else ";"

    def _is_dereferenced(self, index: int) -> bool:
        before = self._text(index - 2)
        return self._text(index + 1) == "->" or (
            self._text(index - 1) == "*" and (before in _BEFORE_OPERAND or before in _ASSIGNMENTS or before == "*")
        )

    def _add(self, name: str, objects: set[str]) -> None:
        if new := objects - {name}:
            self._led_to[name] |= new

    def _is_address(self, index: int) -> bool:
        """Whether the name at ``index`` gives the address of an object: ``&x``, or an array without an index."""
        if self._text(index - 1) == "&":
            before = self._text(index - 2)
            return before in _BEFORE_OPERAND or before in _ASSIGNMENTS
        return self._tokens[index].text in self._arrays and self._text(index + 1) != "["

    def changed_by(self, flow: _Flow) -> set[str]:
        """Return the names of all objects that get values from a flow."""
        led_to = {name for through in flow.through for name in self._led_to.get(through, ())}
        return self._reached(flow.names | led_to | (flow.through & self._pointers))

    def _reached(self, names: Iterable[str]) -> set[str]:
        """Return the names, and the names of all objects to which they may lead."""
        found, todo = set[str](), list(names)
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self._led_to.get(name, ())
        return found


def _within(places: Sequence[int], flow: _Flow) -> Sequence[int]:
    return places[bisect_left(places, flow.begin) : bisect_left(places, flow.end)]
