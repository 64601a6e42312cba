"""Groups of registers: by kind, and by the initial contents that a kernel requests for its waves."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.targets import ScratchKind
from rocdbg.codeobject.kernel_descriptor import KernelDescriptor

USER, SYSTEM, WORK_ITEM = "user", "workgroup", "work-item"
GENERAL, VECTOR, SYSTEM_REGISTERS, ALL = "general", "vector", "system", "all"
CHANGED = "changed"
GIVEN = {"user-sgprs": USER, "system-sgprs": SYSTEM, "work-item-ids": WORK_ITEM}
GROUPS = (GENERAL, "float", VECTOR, SYSTEM_REGISTERS, ALL, *GIVEN, CHANGED)
"""Names of groups; the group "float" is empty, as no registers are for floating point alone."""
_GENERAL = ("pc", "exec", "vcc")


class GivenRegister(Struct, frozen=True):
    """A register with a meaning. ``group`` is `USER`, `SYSTEM` or `WORK_ITEM`; ``name`` is in operand syntax."""

    group: str
    meaning: str
    name: str


def given_registers(descriptor: KernelDescriptor) -> list[GivenRegister]:
    """Return the registers that hardware and firmware set, in the order of the ABI.

    These are the user SGPRs; then workgroup ids, workgroup information and the offset of the wave's scratch (from GFX12
    on, the ids are in trap registers); then the VGPRs with the work-item's position. (AMDGPU usage, "Initial Kernel
    Execution State".)
    """
    target = descriptor.target
    found = [
        GivenRegister(USER, item.name.lower().replace("_", " "), _name("s", first, count))
        for item, (first, count) in descriptor.user_sgprs().items()
    ]
    if target.architected_sgprs:
        found += [
            GivenRegister(SYSTEM, "workgroup id x", "ttmp9"),
            GivenRegister(SYSTEM, "workgroup ids y and z", "ttmp7"),
        ]
    else:
        wanted = [f"workgroup id {axis}" for axis in "xyz" if getattr(descriptor, f"enable_sgpr_workgroup_id_{axis}")]
        wanted += ["workgroup info"] if descriptor.enable_sgpr_workgroup_info else []
        if descriptor.enable_private_segment and target.scratch is not ScratchKind.ARCHITECTED:
            wanted.append("scratch wave offset")
        first = descriptor.user_sgpr_count
        found += [GivenRegister(SYSTEM, meaning, f"s{first + n}") for n, meaning in enumerate(wanted)]
    if target.packed_work_item_ids:
        found.append(GivenRegister(WORK_ITEM, "work-item ids", "v0"))
    else:
        axes = "xyz"[: descriptor.enable_vgpr_workitem_id + 1]
        found += [GivenRegister(WORK_ITEM, f"work-item id {axis}", f"v{n}") for n, axis in enumerate(axes)]
    return found


def _name(file: str, first: int, count: int) -> str:
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def group_of(name: str) -> str:
    """Return the group, as GDB names groups, to which a register belongs."""
    if name in _GENERAL or (name[0] == "s" and name[1:].isdecimal()):
        return GENERAL
    return VECTOR if name[0] in "va" and name[1:].isdecimal() else SYSTEM_REGISTERS
