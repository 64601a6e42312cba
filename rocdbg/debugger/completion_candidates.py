"""Candidates for completion, by the kind of argument."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rocdbg.arch.address_spaces import LANE_SPACES, address_space_names
from rocdbg.debugger.frames.frame_registers import special_names
from rocdbg.debugger.reports.kernel_registers import GROUPS
from rocdbg.debugger.reports.symbol_queries import CODE, SYMBOLS
from rocdbg.dwarf.info.all_names import NameKind
from rocdbg.dwarf.info.types import ClassType, PointerType, Type, VectorType
from rocdbg.errors import Error
from rocdbg.isa.operands import special_register_names, trap_registers

if TYPE_CHECKING:
    from rocdbg.debugger.session import Session
    from rocdbg.dwarf.info import Scope

MAX_CANDIDATES = 200

_TAGS = {
    "struct": (NameKind.STRUCT, NameKind.CLASS), "class": (NameKind.CLASS, NameKind.STRUCT),
    "union": (NameKind.UNION,), "enum": (NameKind.ENUM,),
}
_TAG_KINDS = (NameKind.STRUCT, NameKind.CLASS, NameKind.UNION, NameKind.ENUM)
_NAMES = (
    NameKind.FUNCTION, NameKind.VARIABLE, NameKind.ENUMERATOR, NameKind.SYMBOL, NameKind.DATA_SYMBOL, NameKind.TYPE,
)
_SHORTEST_SPACE = 3
"""How many letters of an address space must be typed before it is offered."""
_LAST_WORD = re.compile(r"\b(\w+)\s+$")
_MEMBER = re.compile(r"(.*?)(\.|->)(\w*)$", re.DOTALL)


def complete(session: Session, kind: str, word: str, text: str) -> list[str]:
    """Return the candidates that start with ``word``, sorted, at most `MAX_CANDIDATES`."""
    try:
        found = _candidates(session, kind, word, text)
        names = sorted({name for name in found if name.startswith(word)})
    except Error:
        return []
    return names[:MAX_CANDIDATES]


def _candidates(session: Session, kind: str, word: str, text: str) -> Iterable[str]:
    if kind == "expression":
        return _expression(session, word, text)
    if kind in ("code", "location") and ":" in word.replace("::", ""):
        return _functions_in(session, *word.rpartition(":"))
    if kind in ("code", "location", "symbol"):
        kinds = {"code": CODE, "location": (*SYMBOLS, NameKind.TYPE, *_TAG_KINDS)}.get(kind, SYMBOLS)
        names = list(session.symbols.names_starting(word, kinds)) if word else session.launch.kernel_names()
        if kind == "code" or (kind == "location" and not (word and any("." not in name for name in names))):
            names += [file.basename for file in session.symbols.sources()]
        return names
    if kind == "type":
        return session.symbols.names_starting(word, _TAGS.get(_tag(word, text), (NameKind.TYPE,)))
    if kind == "register":
        return [*_registers(session), *GROUPS]
    if kind == "kernel":
        return session.launch.kernel_names()
    if kind == "plugin":
        return [*session.plugins.available(), *session.plugins.plugins]
    if kind == "breakpoint":
        return [str(b.number) for b in session.breakpoints]
    if kind == "thread":
        return _threads(session, word)
    if kind == "lane":
        return _lanes(session, session.focus.current.thread)
    return []


def _functions_in(session: Session, file: str, colon: str, name: str) -> Iterable[str]:
    """Return the functions of a file, as ``FILE:NAME``, or the labels of a function."""
    for program in session.inferior.programs:
        files = program.info.files_named(file) if program.has_debug_info else []
        for function in program.info.functions_matching(f"^{re.escape(name)}") if files else []:
            if function.decl_file in files and function.low_pc is not None and function.name:
                yield f"{file}{colon}{function.name}"
        for function in program.info.functions_named(file) if program.has_debug_info and not files else []:
            yield from (f"{file}{colon}{label}" for label in _labels(function))


def _labels(scope: Scope) -> Iterator[str]:
    """Yield the labels of a scope and of the blocks in it."""
    yield from (label.name for label in scope.labels if label.name)
    for child in scope.children:
        yield from _labels(child)


def _tag(word: str, text: str) -> str:
    """Return the keyword in front of a word: ``struct``, ``enum``."""
    found = _LAST_WORD.search(text[: len(text) - len(word)])
    return found[1] if found is not None else ""


def _threads(session: Session, word: str) -> list[str]:
    """Return the threads or, after a colon, the lanes of a thread."""
    thread, colon, _ = word.partition(":")
    if not colon:
        target = session.inferior.target
        return [str(wave.number) for wave in target.waves()] if target is not None else []
    return [f"{thread}:{lane}" for lane in _lanes(session, int(thread))] if thread.isdecimal() else []


def _lanes(session: Session, thread: int | None) -> list[str]:
    if thread is None:
        return []
    used = session.inferior.wave(thread).used_lanes
    return [str(lane) for lane in range(session.inferior.lane_count(thread)) if used >> lane & 1]


def _expression(session: Session, word: str, text: str) -> Iterable[str]:
    if word.startswith("$"):
        return ["$" + name for name in (*session.convenience.names(), *_registers(session))]
    member = _MEMBER.match(text)
    if member is not None and member[1].strip():
        prefix = word[: len(word) - len(member[3])] if word.endswith(member[3]) else ""
        return [prefix + name for name in _members(session, member[1])]
    tag = _tag(word, text)
    if tag in _TAGS:
        return session.symbols.names_starting(word, _TAGS[tag])
    environment = session.data.environment()
    names = [v.name for v in environment.local_variables() if v.name]
    if word:
        names += session.symbols.names_starting(word, _NAMES) if session.inferior.program is not None else []
    return names + _spaces(session) if len(word) >= _SHORTEST_SPACE else names


def _spaces(session: Session) -> list[str]:
    """Return the address spaces, with the suffix of their names: ``local#``, ``private_lane9#``."""
    thread = session.focus.current.thread
    lanes = LANE_SPACES if thread is None else session.inferior.lane_count(thread)
    return [f"{name}#" for name in (*address_space_names(), *(f"private_lane{lane}" for lane in range(lanes)))]


def _members(session: Session, expression: str) -> list[str]:
    operand = expression[_operand(expression) :]
    type_: Type = session.data.expression_type(operand)[0].strip_typedefs()
    if operand.startswith("$") and isinstance(type_, VectorType):  # possibly a register, which has halves
        session.data.expression_type(f"{operand}.l")
        return ["l", "h"]
    if isinstance(type_, PointerType):
        type_ = type_.target.strip_typedefs()
    return [m.name for m in type_.members if m.name] if isinstance(type_, ClassType) else []


def _in_arrow(text: str, index: int) -> bool:
    return text.startswith("->", index) or text.startswith("->", index - 1)


def _operand(text: str) -> int:
    """Return the position at which the operand at the end of the text begins. The operand may contain complete pairs of
    brackets.
    """
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        char = text[index]
        if char in ")]":
            depth += 1
        elif char in "([":
            if depth == 0:
                return index + 1
            depth -= 1
        elif depth == 0 and char in " ,=+-*/!&|<>" and not _in_arrow(text, index):
            return index + 1
    return 0


def _registers(session: Session) -> list[str]:
    if session.focus.current.thread is None:
        return []
    wave = session.inferior.wave(session.focus.current.thread)
    names = ["pc", "exec", "vcc", "status"]
    if session.inferior.target is not None:
        target = session.inferior.target
        names += special_names(target, session.focus.current.thread) + special_register_names(target.architecture)
        names += [f"ttmp{n}" for n in range(trap_registers(target.architecture))]
    names += [f"s{n}" for n in range(wave.sgprs)] + [f"v{n}" for n in range(wave.vgprs)]
    return names + [f"a{n}" for n in range(wave.agprs)]
