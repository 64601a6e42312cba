"""Sessions on the demo kernels that carry the full extensions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rocdbg.debugger import Session

EXTENSIONS = Path(__file__).resolve().parent.parent.parent / "demo_kernels" / "extensions"
Open = Callable[..., Session]
Inputs = Callable[[str], NDArray[np.int32]]


@pytest.fixture
def extension() -> Open:
    """``extension("nested", "gfx1100", "llvm22")``: a session on the demo's launch file; nothing has run."""

    def open_(name: str, target: str = "gfx90a", dialect: str = "") -> Session:
        session = Session()
        launch = f"{name}.{dialect}.toml" if dialect not in ("", "amd") else f"{name}.toml"
        session.load(EXTENSIONS / name / launch, target)
        return session

    return open_


@pytest.fixture
def extension_input() -> Inputs:
    """The input array of a demo."""

    def load(name: str) -> NDArray[np.int32]:
        values: NDArray[np.int32] = np.load(EXTENSIONS / name / "input.npy")
        return values

    return load
