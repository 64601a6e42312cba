"""Makes ``bench`` importable by the tests of this folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

if "engine_bench" not in sys.modules:
    spec = importlib.util.spec_from_file_location("engine_bench", Path(__file__).with_name("bench.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["engine_bench"] = module
    spec.loader.exec_module(module)
