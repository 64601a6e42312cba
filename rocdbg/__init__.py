"""rocdbg: a GDB-style debugger for AMD GPU kernels that needs no AMD GPU."""

from __future__ import annotations

from rocdbg.errors import Error

__version__ = "0.1.0"

__all__ = ["Error", "__version__"]
