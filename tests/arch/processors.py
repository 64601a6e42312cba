"""The facts that LLVM's assembler shows about each processor, recorded in `processors.txt`: ./test compares the table
of targets with the record, and `make truth` compares the record with LLVM.

    python -m tests.arch.processors     # writes the record
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from rocdbg.arch import TARGETS, ScratchKind, Target
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import Elf

RECORD = Path(__file__).with_name("processors.txt")
_HEAD = "# PROCESSOR, its machine value, what it has; vgprsN: vector registers in a unit for waves of N lanes"
# Still found in older code objects, dropped by LLVM 21.
GONE_FROM_LLVM = {"gfx940", "gfx941"}
AMDGCN = [t for t in TARGETS.values() if not t.is_r600 and t.name not in GONE_FROM_LLVM]

_DIRECTIVES = {
    "scratch-buffer": "user_sgpr_private_segment_buffer 1",
    "preload": "user_sgpr_kernarg_preload_length 1",
    "wgp": "workgroup_processor_mode 1",
    "wave32": "wavefront_size32 1",
    "unified": "tg_split 1",
}
_MOST = 40
"""The number of descriptors, which request 1, 2, ... vector registers: more than the largest unit."""


def assemble(text: str, cpu: str, triple: str = "amdgcn-amd-amdhsa") -> bytes | None:
    """The object file; None if the assembler rejects the text."""
    command = ["llvm-mc-22", "-triple", triple, f"-mcpu={cpu}", "-filetype=obj", "-o", "-"]
    result = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    return None if result.returncode or b"not a recognized processor" in result.stderr else result.stdout


def llvm_processors(triple: str) -> list[str]:
    """The processors that the assembler lists."""
    command = ["llvm-mc-22", "-triple", triple, "-mcpu=help"]
    text = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stderr
    return re.findall(r"^  (\S+) +- Select the \1 processor", text, re.MULTILINE)


def flags_of(data: bytes) -> tuple[int, bool, bool, bool]:
    """The facts in an object's e_flags: machine value, whether XNACK and SRAMECC can be chosen, whether it is generic.
    """
    at = 0x30 if data[4] == 2 else 0x24
    flags = int.from_bytes(data[at : at + 4], "little")
    return flags & 0xFF, bool(flags & 0x300), bool(flags & 0xC00), bool(flags >> 24)


def _kernel(number: int, vgprs: int, *directives: str) -> str:
    asked = [f"next_free_vgpr {vgprs}", "next_free_sgpr 8", "reserve_vcc 0", *directives]
    return (
        f".text\nk{number}: s_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k{number}\n"
        + "".join(f".amdhsa_{one}\n" for one in asked) + ".end_amdhsa_kernel\n"
    )


def _unit(name: str, *directives: str) -> int:
    """The number of vector registers in a unit: the largest number that fits into one unit."""
    data = assemble("".join(_kernel(n, n, *directives) for n in range(1, _MOST)), name)
    assert data is not None
    rodata = Elf(Source("k.o", data)).sections[".rodata"].data
    return [rodata[64 * n + 48] & 0x3F for n in range(_MOST - 1)].count(0)


def llvms_words(name: str) -> frozenset[str]:
    """The texts that LLVM's assembler accepts and writes for a processor."""
    plain = assemble("", name)
    assert plain is not None
    needed = [] if assemble(_kernel(0, 8), name) is not None else ["accum_offset 4"]
    words = {
        word for word, directive in _DIRECTIVES.items() if assemble(_kernel(0, 8, *needed, directive), name) is not None
    }
    sizes = {64: "wavefront_size32 0", 32: "wavefront_size32 1"} if "wave32" in words else {64: ""}
    words |= {f"vgprs{size}:{_unit(name, *needed, *filter(None, [size_]))}" for size, size_ in sizes.items()}
    return frozenset(words | _words_of(*flags_of(plain)))


def our_words(target: Target) -> frozenset[str]:
    """The same facts according to the table of targets; registers only for wave sizes that the processor can run."""
    facts = {
        "scratch-buffer": target.scratch is ScratchKind.BUFFER, "preload": target.supports_kernarg_preload,
        "wgp": target.supports_wgp_mode, "wave32": 32 in target.wave_sizes, "unified": target.unified_vgprs,
    }
    words = {word for word, holds in facts.items() if holds}
    words |= {f"vgprs{size}:{target.vgpr_granule(size)}" for size in target.wave_sizes}
    return frozenset(words | _words_of(target.mach, target.supports_xnack, target.supports_sramecc, target.is_generic))


def _words_of(mach: int, xnack: bool, sramecc: bool, generic: bool) -> set[str]:
    facts = {"xnack": xnack, "sramecc": sramecc, "generic": generic}
    return {f"{mach:#04x}", *(word for word, holds in facts.items() if holds)}


def recorded() -> dict[str, frozenset[str]]:
    """The recorded texts, by processor."""
    rows = [line.split() for line in RECORD.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {name: frozenset(words) for name, *words in rows}


if __name__ == "__main__":
    names = [name for name in llvm_processors("amdgcn-amd-amdhsa") if name in TARGETS]
    rows = [" ".join([f"{name:16}", *sorted(llvms_words(name))]) for name in names]
    RECORD.write_text("\n".join([_HEAD, *rows]) + "\n", encoding="utf-8")
