"""The index of semantics names the modules that register them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rocdbg.sim.semantics import index, registry


def test_the_index_is_up_to_date() -> None:
    """Runs in its own process, where no module is imported yet."""
    program = "from rocdbg.sim.semantics import make_index; print(make_index.text(), end='')"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert made.stdout == Path(index.__file__).read_text(), "run `python -m rocdbg.sim.semantics.make_index`"


def test_every_semantic_is_in_the_index_once() -> None:
    listed = [name for names in index.MODULES.values() for name in names.split()]
    assert sorted(listed) == registry.names()


def test_an_instruction_loads_its_module_alone() -> None:
    program = (
        "import sys; from rocdbg.sim.semantics.registry import lookup; assert lookup('v_add_f32') is not None;"
        "assert lookup('v_no_such') is None; print(*(m for m in sys.modules if '.valu_' in m or '.memory_' in m))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "rocdbg.sim.semantics.valu_float\n"
