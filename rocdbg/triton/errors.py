"""What can be wrong with using Triton on the simulator."""

from __future__ import annotations

from rocdbg.errors import Error


class TritonError(Error):
    """Triton is not there, or a launch cannot be run on the simulator."""
