"""Compare rocdbg's assembler with LLVM's: what one refuses the other must refuse, what they take has the same bytes.

Run by hand: ``python -m tests.isa.soak.typed_soak gfx90a [--operands] [--every N] [--show N] [--seed N]``. Texts
are printed instructions and mutations of them, or, with ``--operands``, printed ones with an operand of
`typed_operands`. Every disagreement is counted under its class: who refuses it and why. Exit status 1
if fewer than 99.9 % agree.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Iterable, Sequence

from msgspec import Struct

from rocdbg.errors import Error
from rocdbg.isa.assembler.encoder import assembler_for
from rocdbg.isa.assembler.errors import AssemblyError
from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.generate import llvm_assembler as llvm
from tests.isa.soak import typed_operands
from tests.isa.soak.mistyped import texts

_VALUE = (
    r"(src_)?(scc|vccz|execz|shared_base|shared_limit|private_base|private_limit|pops_exiting_wave_id"
    r"|flat_scratch_base(_lo|_hi)?)"
)
_DPP = r"(dpp|quad_perm|row_)"
_HEX = r"\b0x\w+"
_FLOAT = r"(\d\.\d|\dp[-+]\d|\de[-+]\d)"
_SIGNED = r"(neg|abs|sext)\(|\||-\s*-"


_VARIABLE = re.compile(r"`[^']*'|-?0x[0-9a-f]+|-?\d+")


class Difference(Struct, frozen=True):
    """A text of which the assemblers think differently: the bytes of each, "" and a reason if it refuses."""

    text: str
    ours: str
    theirs: str
    reason: str

    @property
    def who(self) -> str:
        """Who refuses the text."""
        return "we take" if not self.theirs else "we refuse" if not self.ours else "bytes differ"

    @property
    def kind(self) -> str:
        """Its class."""
        what = self.reason or self.text.partition(" ")[0]
        return f"{self.who}: {_VARIABLE.sub('N', what)}"


class Slip(Struct, frozen=True):
    """Where LLVM 22 does what it should not, or the document says otherwise: targets, texts, who does what, what LLVM
    does."""

    targets: str
    who: str
    text: str
    why: str
    reason: str = ""

    def explains(self, target: str, found: Difference) -> bool:
        """Whether a difference is of this kind."""
        return (
            found.who in self.who.split("/") and re.match(self.targets, target) is not None
            and re.search(self.text, found.text) is not None and re.search(self.reason, found.reason) is not None
        )


_REFUSE, _TAKE, _BYTES = "we refuse", "we take", "bytes differ"
SLIPS = (
    # We refuse what LLVM cuts down to the bits there are, or encodes as something else.
    Slip(
        ".", _REFUSE, r"(row_mask|bank_mask|dmask):(0x)?1\w\b|\bfi:2|bitop3:0x100", "cuts masks to the bits there are",
    ),
    Slip(".", _REFUSE, r"buffer_.* offset:", "cuts offsets of buffers", "^offset must be"),
    Slip(".", _REFUSE, r"^s_\w+ ", "cuts 16-bit numbers, takes floats for zero", "simm16|is not an? (integer|branch)"),
    Slip(".", _REFUSE, r"^s_setreg_imm32_b32", "cuts literals", "does not fit|too small"),
    Slip(".", _REFUSE, rf"^[sv]_\w+ \[?{_VALUE}\b", "cuts the codes of values to seven bits, and has them for results"),
    Slip(
        ".", _REFUSE, rf"^(s_|scratch_|t?buffer_).*, {_VALUE}\b",
        "cuts the codes of values in addresses to seven bits",
    ),
    Slip("gfx10", _REFUSE, r"^s_\w+ .*, null", "cuts the code of null in pairs", "sbase"),
    Slip("gfx1[12]", _REFUSE, r"^s_barrier_\w+ null", "cuts the code of null to that of 20"),
    Slip("gfx1", _REFUSE, _DPP, "writes code 255 without a literal in DPP forms", "forms with DPP have none"),
    Slip(
        "gfx[6789]", _REFUSE, r"lit(64)?\(",
        "writes code 255 without a literal in long forms", "long forms|no inline|does not fit",
    ),
    Slip("gfx(8|9|10)", _REFUSE, rf"_sdwa.* ({_HEX}|\d\d+\b)", "writes code 255 without a literal in SDWA forms"),
    Slip("gfx12", _REFUSE, r"atomic.* th:TH_ATOMIC_RETURN", "takes instructions without a result for those with one"),
    Slip("gfx1", _REFUSE, r"v_dual_.*lds_direct", "does not ask whether there is lds_direct"),
    Slip(
        "gfx1250", _REFUSE + "/" + _BYTES, r"v_dual_dot2acc_f32_bf16",
        "does not check its banks, and prefers the long form",
    ),
    Slip("gfx1[12]", _REFUSE, r"^v_s_\w+ s\d+, \[?v", "takes vector registers in scalar instructions"),
    Slip(
        "gfx12", _REFUSE, r"^v_fma_mix.*quad_perm:",
        "does not read the highest bit of permutations back", "quad_perm can be",
    ),
    Slip("gfx1250", _REFUSE, r"^t?buffer_.* scale_offset", "drops scale_offset of buffers"),
    Slip(".", _REFUSE, _SIGNED, "folds signs of constants, drops those without bits", "cannot have"),
    Slip(".", _BYTES, _SIGNED, "folds signs of constants into literals"),
    Slip("gfx1", _TAKE, rf"_f64.*({_SIGNED})", "prints signs of f64 literals, which it refuses"),
    Slip("gfx1", _REFUSE + "/" + _BYTES, r"\|lit\(", "drops the mark of literals between bars"),
    Slip("gfx1[12]", _REFUSE, r"^v_ldexp_f16", "cuts literals of v_ldexp_f16", "does not fit|too small"),
    Slip("gfx1", _REFUSE, rf"bf16.*{_FLOAT}", "makes 32-bit floats for pairs of brain floats", "too small|does not"),
    Slip("gfx[67]", _REFUSE, r"^v_\w+ .* clamp$", "drops clamp where the encoding has no bit of it", "no modifier"),
    Slip(".", _REFUSE, rf"^v_\w+ [^,]*, {_VALUE}\b", "cuts the codes of values that get masks to seven bits", "sdst"),
    Slip("gfx1[12]", _REFUSE, r"\.h.* op_sel:\[", "overrides op_sel by halves of registers", "contradicts a modifier"),
    Slip("gfx1[02]", _REFUSE, r"^scratch_\w+ .*\bnull", "takes null for off", "saddr"),
    Slip("gfx1[12]", _REFUSE, r"sext\(", "drops sext, which has no bits there", "cannot have"),
    Slip("gfx9[45]", _REFUSE, r"_dpp .*v\[\d+:\d+\]", "takes pairs for single registers", "vector registers$"),
    Slip(".", _REFUSE, " ", "takes operands without a comma between them", "comma is missing"),
    Slip("gfx(9|10)", _REFUSE, r"^s_atc_probe", "cuts what is probed to seven bits"),
    Slip(
        "gfx([89]|10)", _REFUSE, rf"^s_.*(lit\(|{_FLOAT})",
        "cuts the codes of values to seven bits", "soffset cannot|small",
    ),
    Slip("gfx1", _REFUSE, "^s_(buffer_)?(atc_probe|prefetch)", "cuts lengths to five bits", "sdata|small|not fit"),
    Slip(".", _REFUSE, rf"[(-].*{_FLOAT}", "has the bits of 64-bit floats in expressions", "neither a register nor"),
    Slip(".", _REFUSE, r"lit64\(", "takes lit64 for lit", "no literals of 64 bits"),
    # Bytes differ.
    Slip(".", _BYTES, rf"s_setreg_imm32_b32(_e32)? .*{_FLOAT}", "takes low bits for a floating-point literal"),
    Slip(".", _BYTES + "/" + _REFUSE, r"^exp(_e32)? .*compr", "enables halves of exports in pairs, and drops some"),
    Slip(
        ".", _BYTES + "/" + _TAKE, rf"^[vs]_\w*(_[iub]16|alignb|_f16_(bf|fp)8).*{_FLOAT}",
        "makes 32-bit floats for 16-bit integers, unlike the document",
    ),
    Slip("gfx1", _BYTES, rf"^s_cmp_\w+_f16 .*{_FLOAT}", "makes 32-bit floats for scalar 16-bit comparisons"),
    Slip("gfx1250", _BYTES, r"64.*lit\(", "makes literals of 64 bits of lit(...), of floats too"),
    Slip("gfx1250", _REFUSE, r"64.*lit\(", "cuts literals", "does not fit into 32 bits"),
    Slip("gfx(950|11|12)", _TAKE, rf"bf16.*{_FLOAT}", "has the limits of f16 for brain floats", "invalid operand"),
    Slip(
        "gfx12", _BYTES + "/" + _TAKE, r"^v_(pk_fmac_f16|cvt_pk_(fp8|bf8)_f16)",
        "makes literals of inline constants, and has expressions only where they are none",
    ),
    Slip("gfx12", _REFUSE, r"^v_cvt_pk_(fp8|bf8)_f16", "makes infinities", "does not fit"),
    Slip("gfx1", _BYTES, r"lit(64)?\(.*0x|0x.*lit(64)?\(", "forgets the second of two literals"),
    Slip(".", _REFUSE, r"lit(64)?\(", "forgets the second of two literals", "only one literal"),
    # We take what LLVM prints and refuses, or knows with a feature only.
    Slip(
        "gfx12", _TAKE, r"^v_.*v\d+\.h|^v_(mov|swap)_b16",
        "knows halves of registers with a feature only, AMD's compiler always",
    ),
    Slip("gfx1[01]", _TAKE, r"^image_", "prints addresses that are too long for their encoding", "image address size"),
    Slip("gfx11", _TAKE, r"^v_fmac_f16.* op_sel", "prints an op_sel that it refuses"),
    Slip("gfx11", _TAKE, rf"0\.15915494.*{_DPP}|_dpp.*0\.15915494", "prints a constant in DPP forms that it refuses"),
    Slip("gfx(9|10)", _TAKE, r"^v_\w+_sdwa.*0\.15915494", "prints a constant of integers that it refuses"),
)


def differences(target: str, lines: Sequence[str]) -> list[Difference]:
    """The lines that are not assembled alike."""
    oracle = llvm.Assembler(target)
    ours = assembler_for(target)
    found = []
    for line, answer in zip(lines, oracle.ask(lines), strict=True):
        theirs = "" if answer is None else answer[0].to_bytes(answer[1], "little").hex()
        reason = oracle.errors.get(line, "") if answer is None else ""
        try:
            mine = ours.assemble(line).hex()
        except AssemblyError as error:
            mine, reason = "", reason or error.reason
        except Error as error:
            mine, reason = "", reason or str(error)
        if mine != theirs:
            found.append(Difference(line, mine, theirs, reason))
    return found


def is_slip(target: str, found: Difference) -> bool:
    """Whether a difference is one that must be."""
    return any(slip.explains(target, found) for slip in SLIPS)


def spelled_freely(target: str, found: Sequence[Difference]) -> list[Difference]:
    """Those that we take, and LLVM too if they are written as the decoder prints them: modifiers in another order,
    lists with brackets too many."""
    oracle, decoder = llvm.Assembler(target), decoder_for(target)
    taken = [one for one in found if one.ours and not one.theirs]
    printed = [decoder.decode(bytes.fromhex(one.ours)).text for one in taken]
    return [
        one for one, answer in zip(taken, oracle.ask(printed), strict=True)
        if answer is not None and answer[0].to_bytes(answer[1], "little").hex() == one.ours
    ]


def show(found: Iterable[Difference], most: int, examples: int) -> None:
    """Print the classes."""
    classes: dict[str, list[Difference]] = {}
    for difference in found:
        classes.setdefault(difference.kind, []).append(difference)
    for kind, members in sorted(classes.items(), key=lambda item: -len(item[1]))[:most]:
        sys.stdout.write(f"  {len(members):6} {kind}\n")
        for one in members[:examples]:
            sys.stdout.write(f"         {one.text}\n             we {one.ours or '-'}  LLVM {one.theirs or '-'}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--operands", action="store_true", help="operands in all notations")
    parser.add_argument("--every", type=int, default=40, metavar="N", help="take one of N encodings")
    parser.add_argument("--show", type=int, default=30, metavar="N", help="classes to show")
    parser.add_argument("--examples", type=int, default=3, metavar="N", help="examples of each class")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    worst = 1.0
    for target in arguments.targets:
        start = time.monotonic()
        generator = random.Random(arguments.seed)
        made = typed_operands.texts(target, arguments.every, 3, generator) if arguments.operands else (
            texts(target, arguments.every, generator)
        )
        lines = sorted(set(made))
        found = differences(target, lines)
        free = spelled_freely(target, found)
        slips = [one for one in found if is_slip(target, one)]
        found = [one for one in found if one not in free and one not in slips]
        share = 1 - len(found) / len(lines)
        worst = min(worst, share)
        sys.stdout.write(
            f"{target}: {len(found)} of {len(lines)} texts differ, {100 * share:.3f} % agree, "
            f"{len(free)} more are spelled freely, {len(slips)} are slips of LLVM's, {time.monotonic() - start:.0f} s\n"
        )
        if free:
            show([Difference(one.text, "", "", "spelled freely") for one in free], 1, 2 * arguments.examples)
        show(found, arguments.show, arguments.examples)
    return worst < 0.999


if __name__ == "__main__":
    sys.exit(main())
