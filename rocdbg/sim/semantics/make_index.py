"""Write `rocdbg.sim.semantics.index`: ``python -m rocdbg.sim.semantics.make_index``.

Run it after instructions were added or moved; a test fails if it was forgotten.
"""

from __future__ import annotations

import importlib
import textwrap
from pathlib import Path

from rocdbg.sim.semantics import registry

_FAMILIES = ("valu", "salu", "memory", "control", "lanes")


def modules() -> dict[str, list[str]]:
    """The modules of the package that register semantics, with the names that each one registers when it is imported.

    Correct only in a process that has imported none of them before.
    """
    folder = Path(__file__).parent
    found = {}
    for name in sorted(path.stem for path in folder.glob("*.py") if path.stem.split("_")[0] in _FAMILIES):
        before = registry.registered()
        importlib.import_module(f"{__package__}.{name}")
        names = registry.registered() - before
        if names:
            found[name] = sorted(names)
    return found


def text() -> str:
    """The text of the index."""
    lines = [
        '"""Which module registers which semantics: made by `rocdbg.sim.semantics.make_index`."""',
        "",
        "from __future__ import annotations",
        "",
        "MODULES: dict[str, str] = {",
    ]
    for name, names in modules().items():
        lines.append(f'    "{name}": (')
        lines += [f'        "{part} "' for part in textwrap.wrap(" ".join(names), 105)]
        lines.append("    ),")
    return "\n".join([*lines, "}", '"""By module, the names of instructions."""', ""])


if __name__ == "__main__":
    Path(__file__).with_name("index.py").write_text(text(), encoding="utf-8")
