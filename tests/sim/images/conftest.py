"""Makes the engine tests' ``Bench``, the format oracle and the modules of this folder importable here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_MODULES = {
    "engine_bench": _HERE.parent / "engine" / "bench.py",
    "format_reference": _HERE.parent / "memory" / "format_reference.py",
    "image_reference": _HERE / "image_reference.py",
    "image_bench": _HERE / "image_bench.py",
    "image_compiling": _HERE / "compiling.py",
}
for _name, _path in _MODULES.items():
    if _name not in sys.modules:
        _spec = importlib.util.spec_from_file_location(_name, _path)
        assert _spec is not None and _spec.loader is not None
        _module = importlib.util.module_from_spec(_spec)
        sys.modules[_name] = _module
        _spec.loader.exec_module(_module)
