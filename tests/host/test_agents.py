"""GPUs by name, and the names that runtimes compare."""

from __future__ import annotations

import pytest

from rocdbg.errors import Error
from rocdbg.host.agents import agent_record, isa_name, parse_agents
from rocdbg.host.protocol import AGENT_RECORD

NAMES = [
    ("gfx900", ["amdgcn-amd-amdhsa--gfx900:xnack-"]),
    ("gfx906", ["amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"]),
    ("gfx90a", ["amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"]),
    ("gfx90a:xnack+", ["amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack+"]),
    ("gfx942:sramecc-", ["amdgcn-amd-amdhsa--gfx942:sramecc-:xnack-"]),
    ("gfx1030, gfx1201", ["amdgcn-amd-amdhsa--gfx1030", "amdgcn-amd-amdhsa--gfx1201"]),
]


@pytest.mark.parametrize(("text", "names"), NAMES, ids=[row[0] for row in NAMES])
def test_instruction_set(text: str, names: list[str]) -> None:
    assert [isa_name(agent) for agent in parse_agents(text)] == names


REFUSED = [
    ("", "cannot simulate the GPU '': a list of 1 to 16 names such as gfx90a,gfx1100 is needed"),
    ("gfx90a,", "cannot simulate the GPU 'gfx90a,': a list of 1 to 16 names such as gfx90a,gfx1100 is needed"),
    ("gfx803", "cannot simulate the GPU gfx803: only GPUs from gfx900 on can be simulated"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[row[0] or "nothing" for row in REFUSED])
def test_refused(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        parse_agents(text)
    assert str(caught.value) == message


def test_families_are_no_gpus() -> None:
    with pytest.raises(Error, match="it names a family of GPUs; use one of its members: gfx1100, "):
        parse_agents("gfx11-generic")


def test_record() -> None:
    (agent,) = parse_agents("gfx1100")
    name, isa, product, wave, units, waves, simds, lds, *_ = AGENT_RECORD.unpack(agent_record(agent))
    assert (name.rstrip(b"\0"), isa.rstrip(b"\0")) == (b"gfx1100", b"amdgcn-amd-amdhsa--gfx1100")
    assert (product.rstrip(b"\0"), wave, units * waves, simds, lds) == (b"rocdbg gfx1100", 32, 128, 4, 65536)
