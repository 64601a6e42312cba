"""Variables of the subprograms that enclose a nested one (A.3.3.5 (3))."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.addresses import NOWHERE
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.environments.names_here import in_frame
from rocdbg.debugger.frames.frame_context import FrameContext, static_link
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.waiting_lanes import MAX_FRAMES
from rocdbg.debugger.values.located_values import has_fixed_address
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Die, Exprloc, Loclist, Scope, Variable
from rocdbg.dwarf.info.constants import Tag
from rocdbg.dwarf.location import LocationDescription

if TYPE_CHECKING:
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment


def up_level_variable(environment: ProgramEnvironment, name: str) -> tuple[Variable, Enclosing] | None:
    """Find a variable in the nearest subprogram that encloses the frame's; return both."""
    if environment.frame is None:
        return None
    for around in enclosing(environment.frame):
        for scope in around.scopes:
            for variable in reversed(scope.variables):
                if variable.name == name:
                    return variable, around
    return None


def up_level_value(environment: ProgramEnvironment, name: str) -> Value | None:
    """Return the value of a variable of an enclosing subprogram, in the frame that the static link identifies.

    Raises `ExpressionError` if the variable needs a frame and there is none.
    """
    found = up_level_variable(environment, name)
    if found is None or environment.frame is None:
        return None
    variable, around = found
    if around.context is None:
        if isinstance(variable.location, Exprloc | Loclist) and not has_fixed_address(variable):
            raise ExpressionError(f"No frame is currently executing in block {around.name}.")
        return environment.value_of(variable)
    host = copy(environment.frame)
    host.context, host.function, host.inline, host.scopes = around.context, around.context.function, None, around.scopes
    return in_frame(environment, host).value_of(variable)


# The frames of the subprograms that enclose a nested one: up-level variables are evaluated there (A.3.3.5 (3)).
MOST_LEVELS = 32
"""How many enclosing subprograms are examined; only a malicious file has deeper nesting."""


class Enclosing(Struct, frozen=True):
    """An enclosing subprogram: its blocks around the nested one, innermost first, then itself; and its frame."""

    name: str
    scopes: tuple[Scope, ...]
    context: FrameContext | None
    """``None`` if no frame matches the static link."""


def enclosing(frame: Frame) -> Iterator[Enclosing]:
    """Yield the subprograms that lexically enclose the frame's, innermost first; none in most languages.

    A frame without DW_AT_static_link belongs to the nearest frame of its enclosing subprogram.
    """
    inner = frame.inline.die if frame.inline is not None else frame.function.die if frame.function is not None else None
    context: FrameContext | None = frame.context
    for _ in range(MOST_LEVELS):
        around = _around(inner) if inner is not None else []
        if not around:
            return
        host = around[-1]
        is_inline = frame.inline is not None and context is frame.context
        context = _host(context, host, is_inline) if context is not None else None
        scopes = tuple(Scope(die) for die in around)
        if context is not None:
            scopes = tuple(_instances(context, around)) or scopes
        yield Enclosing(host.name or "", scopes, context)
        inner = host


def _around(die: Die) -> list[Die]:
    """Return the blocks around a subprogram, and the subprogram that contains them; empty if it is not nested."""
    *_, declaration = die.origins()
    blocks: list[Die] = []
    parent = declaration.parent
    while parent is not None and parent.tag == Tag.LEXICAL_BLOCK and len(blocks) < MAX_FRAMES:
        blocks.append(parent)
        parent = parent.parent
    return [*blocks, parent] if parent is not None and parent.tag == Tag.SUBPROGRAM else []


def _host(context: FrameContext, host: Die, is_inline: bool) -> FrameContext | None:
    """Return the frame of the subprogram that encloses the one of ``context``."""
    link = None if is_inline else static_link(context)
    caller: FrameContext | None = context if is_inline else context.next_frame()
    for _ in range(MAX_FRAMES):
        if caller is None:
            return None
        if list(_instances(caller, [host])) and (link is None or _is_same(link, caller.cfa)):
            return caller
        caller = caller.next_frame()
    return None


def _instances(context: FrameContext, entries: list[Die]) -> Iterator[Scope]:
    """Yield the scopes at the frame's PC that are instances of the entries."""
    program = context.program
    for scope in program.info.scopes_at(program.to_file(context.pc or NOWHERE)):
        if any(origin in entries for origin in scope.die.origins()):
            yield scope


def _is_same(link: LocationDescription, cfa: LocationDescription | None) -> bool:
    return cfa is not None and link.describe() == cfa.describe()
