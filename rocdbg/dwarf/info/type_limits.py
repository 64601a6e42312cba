"""Limits on types in debug information: sizes, offsets and nesting that a consumer can handle.

Anything beyond these limits is damage or an attack: a class that contains itself has no size, and types that each
contain the next one twice grow exponentially. The limits are checked while types are read, so code that walks through
types need not check them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from rocdbg.dwarf.info.types import ArrayType, BaseClass, ClassBody, ClassType, Member, Type, VectorType

if TYPE_CHECKING:
    from rocdbg.dwarf.info.die import Die

MOST_LEVELS: Final = 128
"""Limit on the depth of types built on each other without a class in between."""
MOST_PARTS: Final = 4096
"""Limit on the types of which one type consists, each counted as often as it occurs."""
MOST_CLASSES: Final = 64
"""Limit on the depth of classes that contain each other by value."""
MOST_MEMBERS: Final = 1 << 16
"""Limit on the members of a class, including those of the classes that it contains."""
LARGEST_SCALAR: Final = 1024
"""Limit on the bytes of a number or pointer: by default Python refuses to convert longer numbers to decimal digits."""
LARGEST: Final = 1 << 48
"""Limit on the size of anything, and on the offset of anything from the start of its container, in bytes."""


def checked(die: Die, number: int | None, largest: int, what: str) -> int | None:
    """A number of an entry. Raises DebugInfoError if it is negative or larger than ``largest``."""
    if number is not None and not 0 <= number <= largest:
        raise die.unit.entries.error(die.offset, f"{what} of {_short(number)} is not supported")
    return number


def size_of(die: Die, code: int, largest: int = LARGEST) -> int | None:
    """A size in bytes or bits that an attribute gives; see `checked`."""
    return checked(die, die.number(code), largest, "a size")


def _short(number: int) -> str:
    return str(number) if number.bit_length() <= 256 else f"a number of {number.bit_length()} bits"


class Growth:
    """Records the depth and the number of parts of types while they are read. The innermost type is finished first."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, int]] = {}
        self._open: list[tuple[int, int]] = []

    def begin(self) -> None:
        """Begin reading a type."""
        self._open.append((0, 1))

    def add(self, levels: int, parts: int) -> None:
        """Account for parts of the type being read that are not entries."""
        if self._open:
            deep, large = self._open[-1]
            self._open[-1] = (max(deep, levels), large + parts)

    def use(self, offset: int) -> None:
        """Account for a part of the type being read that was itself read before."""
        levels, parts = self._known.get(offset, (0, 1))
        self.add(levels + 1, parts)

    def end(self, offset: int, is_class: bool, read: bool) -> tuple[int, int]:
        """End reading a type, successfully or not: account for its depth and parts. A class hides its contents."""
        levels, parts = self._open.pop()
        if read:
            self._known[offset] = (0, 1) if is_class else (levels, parts)
        return levels, parts


class Contents:
    """Checks what classes contain by value, each once."""

    def __init__(self, body_of: Callable[[int], ClassBody]) -> None:
        self._body_of = body_of
        self._known: dict[int, tuple[int, int]] = {}

    def problem(self, offset: int) -> str | None:
        """The problem with the contents of the class at ``offset``; None if there is none."""
        within: set[int] = set()
        stack = [offset]
        while stack:
            current = stack[-1]
            if current in self._known:
                stack.pop()
                continue
            parts = _contained(self._body_of(current))
            if current not in within:
                within.add(current)
                for part in parts:
                    if part in within and part not in self._known:
                        return "a class contains itself"
                stack += [part for part in dict.fromkeys(parts) if part not in self._known]
                if len(within) > MOST_CLASSES:
                    return f"classes contain each other more than {MOST_CLASSES} deep"
                continue
            stack.pop()
            within.discard(current)
            if any(part not in self._known for part in parts):
                return "a class contains itself"
            levels = 1 + max((self._known[part][0] for part in parts), default=0)
            body = self._body_of(current)
            members = len(body.members) + len(body.bases) + sum(self._known[part][1] for part in parts)
            if levels > MOST_CLASSES:
                return f"classes contain each other more than {MOST_CLASSES} deep"
            if members > MOST_MEMBERS:
                return f"a class has more than {MOST_MEMBERS} members, including those of the classes in it"
            self._known[current] = levels, members
        return None


def _contained(body: ClassBody) -> list[int]:
    """The entries of the classes that a class contains by value, repeated as often as it contains them."""
    found = []
    parts: tuple[Member | BaseClass, ...] = (*body.members, *body.bases)
    for part in parts:
        type: Type = part.type.strip_typedefs()
        while isinstance(type, ArrayType | VectorType):
            type = type.element.strip_typedefs()
        if isinstance(type, ClassType) and type.offset is not None:
            found.append(type.offset)
    return found
