"""The qualified names to which a name can refer where it is used: enclosing scopes, using-directives, aliases."""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info.name_matching import split_qualified
from rocdbg.dwarf.info.namespaces import Namespaces

MOST_SCOPES = 100
"""How many enclosing namespaces and classes are searched for names; only a malicious file has deeper nesting."""
MOST_ALIASES = 8
"""The maximum length of a chain of aliases."""


def joined(scope: str, name: str) -> str:
    """Join a scope and a name; the global scope is the empty string."""
    return f"{scope}::{name}" if scope else name


def visible_names(program: Program | None, frame: Frame | None, name: str) -> list[str]:
    """Return the qualified names to which a name can refer, nearest first; each begins at global scope."""
    around: tuple[str, ...] = ()
    if frame is not None and frame.function is not None:
        around = frame.function.scope_names[:MOST_SCOPES]
    scopes = ["::".join(around[:end]) for end in range(len(around), -1, -1)]
    if program is None or not program.has_debug_info:
        return [joined(scope, name) for scope in scopes]
    namespaces = program.info.namespaces
    if frame is not None and frame.function is not None and frame.function.unit.is_cxx:
        for block in frame.scopes:
            scopes += namespaces.within(block.die).namespaces
    found: dict[str, None] = {}
    if frame is not None and frame.function is not None and frame.function.unit.is_cxx:
        first, *rest = split_qualified(name)
        for block in frame.scopes:
            target = namespaces.within(block.die).declared.get(first)
            if target is not None:
                found["::".join([target, *rest])] = None
    for scope in scopes:
        for visible in _reached(namespaces, scope):
            for meant in _meant(namespaces, joined(visible, name)):
                found[meant] = None
    return list(found)


def global_names(program: Program, name: str) -> list[str]:
    """Return the same as `visible_names`, for a name that begins with ``::``."""
    found: dict[str, None] = {}
    for visible in _reached(program.info.namespaces, ""):
        for meant in _meant(program.info.namespaces, joined(visible, name)):
            found[meant] = None
    return list(found)


def _reached(namespaces: Namespaces, scope: str) -> Iterator[str]:
    """Yield a scope and the namespaces whose names are visible in it, also through nested directives."""
    seen, waiting = {scope}, [scope]
    while waiting:
        current = waiting.pop(0)
        yield current
        for other in namespaces.imports.get(current, ()):
            if other not in seen and len(seen) < MOST_SCOPES:
                seen.add(other)
                waiting.append(other)


def _meant(namespaces: Namespaces, name: str) -> Iterator[str]:
    """Replace the aliases in a qualified name, and yield it with its namespace, then with each namespace whose names
    are visible there.
    """
    name = _unaliased(namespaces, name)
    scope, _, last = name.rpartition("::") if "<" not in name else ("", "", "")
    if not scope or scope not in namespaces.imports:
        yield name
        return
    for visible in _reached(namespaces, scope):
        yield joined(visible, last)


def _unaliased(namespaces: Namespaces, name: str) -> str:
    if not namespaces.declared:
        return name
    for _ in range(MOST_ALIASES):
        links = split_qualified(name)
        for end in range(1, len(links) + 1):
            target = namespaces.declared.get("::".join(links[:end]))
            if target is not None and target != "::".join(links[:end]):
                name = "::".join([target, *links[end:]])
                break
        else:
            return name
    return name
