"""The macros in force at a place of the program, and those that the user has defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.dwarf.info import SourceFile
from rocdbg.dwarf.info.macro_sections import Macro as Macro
from rocdbg.dwarf.info.unit import Unit


class MacroScope:
    """The macros at a line of a unit's file; without a unit or file, only the user's. ``user`` holds the user's macros
    by name.
    """

    def __init__(self, unit: Unit | None, file: SourceFile | None, line: int | None, user: Mapping[str, Macro]) -> None:
        self.unit, self.file, self.line, self.user = unit, file, line or 0, user
        self._known: Mapping[str, Macro] | None = None

    @property
    def defined(self) -> Mapping[str, Macro]:
        """The program's macros."""
        if self._known is None:
            known: Mapping[str, Macro] = {}
            if self.unit is not None and self.file is not None:
                known = self.unit.macros.at(self.file, self.line)
            self._known = known
        return self._known

    @property
    def has_macros(self) -> bool:
        """Whether the unit's debug information contains any macros."""
        return self.unit is not None and bool(self.unit.macros.changes)

    def of_program(self, name: str) -> Macro | None:
        """Return the program's macro of a name."""
        found = self.defined.get(name)
        if found is None and name in ("__FILE__", "__LINE__") and self.file is not None and self.has_macros:
            return Macro(name, None, f'"{self.file.path}"' if name == "__FILE__" else str(self.line))
        return found

    def find(self, name: str) -> Macro | None:
        """Return the macro of a name: the user's or, if there is none, the program's."""
        return self.user.get(name) or self.of_program(name)

    def all_of(self, name: str) -> Iterator[Macro]:
        """Yield every definition of a name in the unit."""
        if self.unit is not None:
            for change in self.unit.macros.changes:
                if change.name == name and change.macro is not None:
                    yield change.macro


def macros_at(environment: Environment) -> MacroScope:
    """Return the macros at the line of an environment's frame, and the user's."""
    frame, user = environment.frame, environment.convenience.macros
    if frame is None or frame.function is None:
        return MacroScope(None, None, None, user)
    return MacroScope(frame.function.unit, frame.file, frame.line, user)


def shown(macro: Macro, main: SourceFile | None) -> list[str]:
    """Return where a macro is defined, and its definition, in GDB's format; ``main`` is the unit's file."""
    place = macro.place
    lines = []
    if place is not None:
        file = place.file or main
        lines.append(f"Defined at {file.path if file is not None else '<command line>'}:{place.line}")
        parent = place.parent
        while parent is not None:
            if parent.file is not None:
                lines.append(f"  included at {parent.file.path}:{parent.line}")
            parent = parent.parent
    if place is not None and place.line == 0:
        lines.append(f"-D{head(macro)}={macro.replacement}")
    else:
        lines.append(f"#define {head(macro)} {macro.replacement}")
    return lines


def head(macro: Macro) -> str:
    """Return the macro's name and parameters."""
    if macro.parameters is None:
        return macro.name
    return f"{macro.name}({', '.join(macro.parameters)})"
