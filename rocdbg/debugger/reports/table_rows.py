"""Rows of the tables a session gives: threads, lanes, registers, variables, shared libraries."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from rocdbg.debugger.frames.frames import Frame
    from rocdbg.debugger.values.value import Value


class LaneState(Enum):
    """State of a lane; the value is the letter ``info lanes`` shows."""

    ACTIVE = "A"
    INACTIVE = "I"
    UNUSED = "U"
    RUNNING = "R"


class ThreadRow(Struct, frozen=True):
    """A line of ``info threads``. ``frame`` is the innermost frame of its first active lane."""

    number: int
    target_id: str
    kernel: str
    current: bool
    frame: Frame
    name: str = ""


class LaneRow(Struct, frozen=True):
    """A line of ``info lanes``. ``frame`` is ``None`` for unused lanes; where nothing tells where an inactive lane
    waits it is that of the wave, and ``is_located`` false. ``is_unknown``: what tells of lanes tells that it does not
    know of this one; ``synthesised``: the machine code told.
    """

    lane: int
    state: LaneState
    target_id: str
    current: bool
    frame: Frame | None
    name: str = ""
    is_located: bool = True
    synthesised: bool = False
    is_unknown: bool = False


class RegisterRow(Struct, frozen=True):
    """A line of ``info registers``: ``raw`` and ``natural`` are the two columns GDB shows."""

    name: str
    value: Value
    raw: str
    natural: str


class LibraryRow(Struct, frozen=True):
    """A line of ``info sharedlibrary``; addresses are of ``.text`` as loaded, 0 before that."""

    low: int
    high: int
    symbols_read: bool
    uri: str
