"""The system, its agents and their instruction sets."""

from __future__ import annotations

import time
from ctypes import byref, c_bool, c_char_p, c_uint8, c_uint16, c_uint32, c_uint64

from hsa import Gpu, call, each, info, out, refused


def check_start_and_end() -> None:
    call("hsa_init")
    call("hsa_shut_down")
    text = c_char_p()
    call("hsa_status_string", 0x1008, byref(text))
    assert (text.value or b"").startswith(b"HSA_STATUS_ERROR_OUT_OF_RESOURCES: ")
    refused(0x1001, "hsa_status_string", 0x7777, byref(text))


def check_system() -> None:
    value = c_uint64()
    call("hsa_system_get_info", 3, byref(value))
    assert value.value == 1_000_000_000
    call("hsa_system_get_info", 2, byref(value))
    assert abs(value.value - time.clock_gettime_ns(time.CLOCK_BOOTTIME)) < 10**9
    refused(0x1001, "hsa_system_get_info", 0x9999, byref(value))
    bits = (c_uint8 * 128)()
    call("hsa_system_get_info", 7, bits)
    assert bits[0x201 // 8] == 1 << 0x201 % 8
    yes, minor = c_bool(), c_uint16()
    call("hsa_system_major_extension_supported", 0x201, 1, byref(minor), byref(yes))
    assert yes.value and minor.value == 3
    call("hsa_system_extension_supported", 0x201, 1, 4, byref(yes))
    assert not yes.value
    name = c_char_p()
    call("hsa_extension_get_name", 0x201, byref(name))
    assert name.value == b"HSA_EXTENSION_AMD_LOADER"


def check_agents() -> None:
    gpu = Gpu()
    agents = each("hsa_iterate_agents")
    kinds = [info("hsa_agent_get_info", agent, 17) for agent in agents]
    assert kinds == [0, 1, 1]
    assert [info("hsa_agent_get_info", agent, 0, bytes) for agent in agents] == ["CPU", "gfx90a", "gfx1100"]
    assert [info("hsa_agent_get_info", agent, 6) for agent in agents[1:]] == [64, 32]
    assert info("hsa_agent_get_info", gpu.agent, 7, c_uint16 * 3) == (1024, 1024, 1024)
    assert info("hsa_agent_get_info", gpu.agent, 0xA002) * info("hsa_agent_get_info", gpu.agent, 0xA00A) == 128
    assert info("hsa_agent_get_info", gpu.agent, 0xA011, bytes) == "GPU-0000000000000001"
    assert info("hsa_agent_get_info", gpu.agent, 0xA113, c_uint64) == agents[0]
    # The sizes of images are 32-bit numbers: nothing after them may change.
    room = (c_uint32 * 4)(*[7] * 4)
    call("hsa_agent_get_info", gpu.agent, 0x3003, room)
    assert list(room) == [16384, 16384, 7, 7]
    refused(0x1001, "hsa_agent_get_info", gpu.agent, 0xBEEF, room)
    refused(0x1004, "hsa_agent_get_info", 12345, 0, room)


def check_instruction_sets() -> None:
    gpu = Gpu()
    (isa,) = each("hsa_agent_iterate_isas", gpu.agent)
    name = info("hsa_isa_get_info_alt", isa, 1, bytes)
    assert name == "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
    assert info("hsa_isa_get_info_alt", isa, 0) == len(name) + 1
    assert out("hsa_isa_from_name", name.encode()) == isa
    refused(0x1017, "hsa_isa_from_name", b"amdgcn-amd-amdhsa--gfx700", byref(c_uint64()))
    (wave,) = each("hsa_isa_iterate_wavefronts", isa)
    assert info("hsa_wavefront_get_info", wave, 0) == 64
    same = c_bool()
    other = each("hsa_agent_iterate_isas", each("hsa_iterate_agents")[2])[0]
    call("hsa_isa_compatible", isa, other, byref(same))
    assert not same.value
    assert each("hsa_agent_iterate_caches", gpu.agent) == []


def check_unsupported_functions() -> None:
    refused(0x1000, "hsa_amd_spm_acquire", 0)
    refused(0x1000, "hsa_ven_amd_pcs_create", 0)
