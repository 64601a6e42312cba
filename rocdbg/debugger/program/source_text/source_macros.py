"""The macros that debug information has for a place (-g3, -fdebug-macro), as those of texts are."""

from __future__ import annotations

from rocdbg.debugger.program.source_text.source_tokens import Definitions, Macro, tokens_of
from rocdbg.dwarf.info import DebugInfoError, SourceFile, Unit
from rocdbg.dwarf.info.macro_sections import macros_of


def macros_at(unit: Unit, file: SourceFile, line: int) -> Definitions | None:
    """All macros at a line of a unit's file; None without debug information of them."""
    try:
        known = macros_of(unit).at(file, line)
    except DebugInfoError:
        return None
    if not known:
        return None
    found = Definitions({}, {}, [])
    for name, macro in known.items():
        found.bodies[name] = macro.replacement
        if "#" in macro.replacement or macro.variadic:
            continue
        body = tuple(tokens_of(macro.replacement))
        found.certain[name] = Macro(macro.parameters, body, macro.place.line if macro.place is not None else 0)
    return found
