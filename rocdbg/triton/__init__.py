"""Triton's kernels on a simulated GPU: no AMD GPU, no ROCm, no torch.

    import rocdbg.triton
    rocdbg.triton.activate("gfx942")

From then on ``kernel[grid](...)`` compiles for that target, as Triton does without a GPU, and runs on the simulator.
Arguments may be NumPy arrays and torch's CPU tensors, which contain the results when the call returns. `debug` starts a
debugging session for a launch instead.
"""

from __future__ import annotations

from rocdbg.triton.activation import activate, deactivate
from rocdbg.triton.debugging import debug
from rocdbg.triton.errors import TritonError

__all__ = ["TritonError", "activate", "deactivate", "debug"]
