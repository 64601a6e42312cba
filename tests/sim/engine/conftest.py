"""Makes ``bench`` and ``matrices`` importable by the tests of this folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

for name in ("bench", "matrices"):
    if f"engine_{name}" not in sys.modules:
        path = Path(__file__).with_name(f"{name}.py")
        spec = importlib.util.spec_from_file_location(f"engine_{name}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[f"engine_{name}"] = module
        spec.loader.exec_module(module)
