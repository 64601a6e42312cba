"""The properties that GPUs report to programs, for each target that can be simulated."""

from __future__ import annotations

from typing import Final

from rocdbg.arch.target_id import Feature, TargetId
from rocdbg.errors import Error
from rocdbg.host.protocol import AGENT_RECORD, MAX_AGENTS

COMPUTE_UNITS: Final = 4
WAVES_PER_UNIT: Final = 32
RESIDENT_WAVES: Final = COMPUTE_UNITS * WAVES_PER_UNIT
"""The number of waves that must be able to be resident at once: runtimes compute the largest cooperative launch from
the two factors.
"""
_SIMDS_PER_UNIT: Final = 4
_CACHE_LINE: Final = 64
MEMORY_SIZE: Final = 16 << 30
"""Bytes of memory of each GPU."""


class AgentError(Error):
    """A GPU that rocdbg cannot simulate for programs."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"cannot simulate the GPU {text}: {reason}")


def parse_agents(text: str) -> tuple[TargetId, ...]:
    """Parse a list of GPUs such as ``gfx90a,gfx1100`` or ``gfx90a:xnack+``; features that are not mentioned have their
    usual settings.

    Raises AgentError and the errors of `TargetId.parse`.
    """
    names = [name.strip() for name in text.split(",")]
    if not 1 <= len(names) <= MAX_AGENTS or not all(names):
        raise AgentError(repr(text), f"a list of 1 to {MAX_AGENTS} names such as gfx90a,gfx1100 is needed")
    return tuple(_parse(name) for name in names)


def _parse(name: str) -> TargetId:
    found = TargetId.parse(name)
    target = found.target
    if target.is_generic:
        raise AgentError(name, f"it names a family of GPUs; use one of its members: {', '.join(target.members)}")
    if target.is_r600 or not target.generation >= 9:
        raise AgentError(name, "only GPUs from gfx900 on can be simulated")
    return TargetId.of(
        target,
        sramecc=Feature.ON if found.sramecc is Feature.ANY else found.sramecc,
        xnack=Feature.OFF if found.xnack is Feature.ANY else found.xnack,
    )


def isa_name(agent: TargetId) -> str:
    """The name of a GPU's instruction set, which runtimes compare with the entries of bundles:
    ``amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-``.
    """
    features = {"sramecc": agent.sramecc, "xnack": agent.xnack}
    said = {name: value for name, value in features.items() if value in (Feature.ON, Feature.OFF)}
    settings = "".join(f":{name}{value.value}" for name, value in said.items())
    return f"amdgcn-amd-amdhsa--{agent.target.name}{settings}"


def agent_record(agent: TargetId) -> bytes:
    """The record that describes a GPU to the runtime library."""
    target = agent.target
    return AGENT_RECORD.pack(
        target.name.encode(),
        isa_name(agent).encode(),
        f"rocdbg {target.name}".encode(),
        target.default_wave_size,
        COMPUTE_UNITS,
        WAVES_PER_UNIT,
        _SIMDS_PER_UNIT,
        target.lds_size,
        target.pci_device,
        _CACHE_LINE,
        1,
        MEMORY_SIZE,
        target.has_images,
    )
