"""Image instructions that are not simulated stop with a reason; so do those that cannot be."""

from __future__ import annotations

import pytest
from image_bench import ImageBench

from rocdbg.sim.core.layout import Status
from rocdbg.sim.faults import instruction_at

REFUSED = [
    ("gfx1030", "image_bvh_intersect_ray v[4:7], v[9:19], s[4:7]", "ray intersection is not simulated"),
    ("gfx1030", "image_bvh64_intersect_ray v[4:7], v[9:17], s[4:7] a16", "ray intersection is not simulated"),
    ("gfx1100", "image_bvh_intersect_ray v[39:42], [v50, v46, v[20:22], v[40:42], v[47:49]], s[12:15]",
     "ray intersection is not simulated"),
    ("gfx1201", "image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[0:3]",
     "ray intersection is not simulated"),
    ("gfx1030", "image_gather4h v[0:3], v[4:5], s[8:15], s[16:19] dmask:1 dim:SQ_RSRC_IMG_2D",
     "it is not public which four texels the instruction reads"),
    ("gfx1100", "image_msaa_load v[0:3], v[4:6], s[8:15] dmask:1 dim:SQ_RSRC_IMG_2D_MSAA",
     "images with several samples per pixel are not simulated"),
    ("gfx1030", "image_sample v[0:2], v[4:6], s[8:15], s[16:19] dmask:7 dim:SQ_RSRC_IMG_2D_MSAA",
     "samples of an image with several samples per pixel"),
    ("gfx1030", "exp mrt0 v0, v0, v0, v0", "graphics is not simulated"),
]


@pytest.mark.parametrize(("target", "text", "reason"), REFUSED)
def test_refusals(target: str, text: str, reason: str) -> None:
    bench = ImageBench(f"{text}\ns_endpgm", target)
    assert bench.run() is Status.UNSUPPORTED
    found = instruction_at(bench.target, bench.wave_size, bench.text.address, bench.memory)
    assert found is not None and found.name == text.split()[0]
    assert bench.engine.refusal(int(bench.state.ctypes.data), found) == reason
