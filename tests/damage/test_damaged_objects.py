"""One thing of the debug information damaged at a time: a kernel can be debugged all the same.

A sample of what `python -m tests.damage.explore` does with everything in twenty objects.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.damage.explore import OBJECTS, faults, sample


@pytest.mark.parametrize("name", OBJECTS[:6])
def test_sample(name: str, tmp_path: Path) -> None:
    assert [found for damage in sample(name, 5, seed=1) for found in faults(name, damage, tmp_path)] == []
