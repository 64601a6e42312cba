"""Errors in the use of Triton on the simulator."""

from __future__ import annotations

from rocdbg.errors import Error


class TritonError(Error):
    """Triton is not installed, or a launch cannot be run on the simulator."""
