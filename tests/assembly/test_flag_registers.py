"""Registers that consist of fields, on every generation that ROCgdb describes: types, values, arithmetic."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocdbg import Debugger, Error
from rocdbg.arch.targets import target_by_name
from rocdbg.debugger.values.flag_registers import flags_type

KERNEL = """
	.text
	.p2align 8
	.globl k
	.type k,@function
k:
	s_nop 0
	s_endpgm
.Lend:
	.size k, .Lend-k
	.rodata
	.p2align 6
	.amdhsa_kernel k
	.amdhsa_next_free_vgpr 8
	.amdhsa_next_free_sgpr 16
	{more}
	.end_amdhsa_kernel
"""
MORE = {"gfx90a": ".amdhsa_accum_offset 8", "gfx942": ".amdhsa_accum_offset 8"}

ROUND = "FP_ROUND.32=NEAREST_EVEN FP_ROUND.64_16=NEAREST_EVEN FP_DENORM.32=FLUSH_SRC_DST FP_DENORM.64_16=FLUSH_NONE"
# target: lines of ptype $mode, lines of ptype $status, p $mode
SHOWN = {
    "gfx900": (
        ["bool DEBUG_EN @11;", "bool VSKIP @28;", "uint32_t CSP @29-31;"],
        ["bool SCC @0;", "uint32_t SPI_PRIO @1-2;", "bool TTRACE_CU_EN @15;", "bool ALLOW_REPLAY @22;"],
        f"[ {ROUND} DX10_CLAMP IEEE CSP=0 ]",
    ),
    "gfx90a": (["bool EXCP_EN.ADDR_WATCH @19;"], ["bool MUST_EXPORT @27;"], f"[ {ROUND} DX10_CLAMP IEEE CSP=0 ]"),
    "gfx942": (
        ["bool TRAP_ON_END @21;"], ["bool SCRATCH_EN @28;", "bool IDLE @31;"], f"[ {ROUND} DX10_CLAMP IEEE CSP=0 ]",
    ),
    "gfx1030": (
        ["bool DEBUG_EN @11;", "bool DISABLE_PERF @27;"], ["bool TTRACE_SIMD_EN @15;", "bool FATAL_HALT @23;"],
        f"[ {ROUND} DX10_CLAMP IEEE ]",
    ),
    "gfx1100": (
        ["bool TRAP_AFTER_INST_EN @11;", "bool WAVE_END @21;"], ["bool LDS_PARAM_READY @25;", "bool SCRATCH_EN @29;"],
        f"[ {ROUND} DX10_CLAMP IEEE ]",
    ),
    "gfx1201": (
        ["bool SCALAR_PREFETCH_EN @24;"], ["bool IN_WG @11;", "bool LDS_PARAM_RDY @25;", "bool WGP_TAKEOVER @31;"],
        f"[ {ROUND} ]",
    ),
}
# command | answer
AS_NUMBERS = """
p $mode + 1                        | $1 = 1009
whatis $mode + 1                   | type = unsigned int
p ($mode & 0xf0) == 0xf0           | $1 = 1
p $mode == 0x3f0                   | $1 = 1
p/x $mode                          | $1 = 0x3f0
p/t $mode                          | $1 = 1111110000
p/d $mode                          | $1 = 1008
p (int)$mode                       | $1 = 1008
p sizeof($mode)                    | $1 = 4
p !$mode                           | $1 = 0
p $mode ? 1 : 2                    | $1 = 1
whatis $mode                       | type = mode
output/x $mode                     | 0x3f0
printf "%d %x", $mode, $mode       | 1008 3f0
p $mode.IEEE                       | Attempt to extract a component of a value that is not a structure.
p $mode[0]                         | cannot subscript something of type `mode'
p *$mode                           | Attempt to take contents of a non-pointer value.
p &$mode                           | Attempt to take address of value not located in memory.
p {$mode}[0] == 0x3f0              | $1 = 1
info registers trapsts             | trapsts        0x0                 [ EXCP_CYCLE=0 DP_RATE=NONE ]
""".strip().splitlines()


def _session(folder: Path, target: str) -> Debugger:
    (folder / "k.s").write_text(KERNEL.format(more=MORE.get(target, "")))
    command = ["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-g", "k.s", "-o", "k.co"]
    subprocess.run(command, check=True, cwd=folder)
    (folder / "k.toml").write_text('[launch]\nfile = "k.co"\nkernel = "k"\ngrid = 64\nworkgroup = 64\n')
    debugger = Debugger(folder / "k.toml")
    debugger.execute("break k")
    debugger.execute("run")
    return debugger


@pytest.mark.llvm
@pytest.mark.parametrize("target", SHOWN)
def test_fields_by_generation(target: str, tmp_path: Path) -> None:
    mode, status, shown = SHOWN[target]
    debugger = _session(tmp_path, target)

    def says(line: str) -> list[str]:
        return debugger.execute(line, to_string=True).splitlines()

    for register, expected in (("mode", mode), ("status", status)):
        lines = says(f"ptype ${register}")
        assert (lines[0], lines[-1]) == (f"type = flag {register} {{", "}")
        assert [line for line in expected if f"    {line}" not in lines] == []
    assert "    enum fp_round {NEAREST_EVEN, PLUS_INF, MINUS_INF, ZERO} FP_ROUND.64_16 @2-3;" in says("ptype $mode")
    number = int(says("output/x $mode")[0], 16)
    says(f"set var $mode = {number & ~0xff | 0xc0:#x}")
    assert says("p $mode") == [f"$1 = {shown}"]
    assert says("info registers mode") == [f"mode           {number & ~0xff | 0xc0:<#20x}{shown}"]
    says("set var $mode = 0x3e")
    assert says("p $mode")[0].startswith(
        "$2 = [ FP_ROUND.32=MINUS_INF FP_ROUND.64_16=ZERO FP_DENORM.32=FLUSH_NONE FP_DENORM.64_16=FLUSH_SRC_DST"
    )


@pytest.mark.llvm
def test_flags_are_numbers_in_expressions(tmp_path: Path) -> None:
    debugger = _session(tmp_path, "gfx90a")
    debugger.execute("set var $mode = 0x3f0")
    debugger.execute("set language c")
    for row in AS_NUMBERS:
        line, answer = (part.strip() for part in row.split("|"))
        try:
            said = debugger.execute(line, to_string=True).strip()
        except Error as error:
            said = str(error)
        start, _, rest = said.partition(" = ")
        assert (f"$1 = {rest}" if start.startswith("$") else said) == answer, line


@pytest.mark.parametrize("name", ["gfx600", "gfx803", "gfx1250"])
def test_targets_without_described_fields(name: str) -> None:
    assert flags_type("mode", target_by_name(name)) is None


@pytest.mark.parametrize("name", ["gfx906", "gfx950", "gfx9-4-generic", "gfx1012", "gfx1150", "gfx12-generic"])
def test_fields_do_not_overlap(name: str) -> None:
    types = [flags_type(register, target_by_name(name)) for register in ("mode", "status", "trapsts", "state_priv")]
    for type_ in types:
        end = 0
        for field in type_.fields if type_ is not None else ():
            assert field.first >= end, field
            end = field.first + field.width
        assert end <= 32
    assert (types[2] is None) == name.startswith("gfx12")
