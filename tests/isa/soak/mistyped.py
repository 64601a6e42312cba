"""Instructions with typing mistakes: printed ones with other registers, numbers, modifiers, forms and halves."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.generate.sample_words import encodings

_REGISTER = re.compile(r"\b(?:v|a|s|ttmp)(?:\d+|\[\d+:\d+\])(?:\.[lh])?")
_SPECIAL = (
    "vcc", "vcc_lo", "vcc_hi", "exec", "exec_lo", "exec_hi", "m0", "null", "scc", "vccz", "execz", "src_scc",
    "flat_scratch", "flat_scratch_lo", "xnack_mask_hi", "tba", "tma_lo", "ttmp3", "ttmp[4:5]", "ttmp11", "off",
    "shared_base", "src_private_limit", "pops_exiting_wave_id", "lds_direct", "src_lds_direct",
    "src_flat_scratch_base_lo", "src_flat_scratch_base_hi", "src_flat_scratch_base",
)
_NUMBERS = (
    "0", "1", "-1", "2", "3", "7", "15", "16", "-16", "-17", "63", "64", "65", "127", "255", "256", "0x12345678",
    "0xdeadbeef", "4095", "4096", "-4096", "-4097", "65535", "65536", "0xffffffff", "0x100000000",
    "0x123456789abcdef0", "0.5", "1.0", "-2.0", "4.0", "0.15915494", "1.5", "2.7", "0x3c00", "0x3f800000", "0xffff",
    "8388607", "8388608", "-8388608", "-8388609", "0xfffff", "0x100000", "lit(5)", "lit64(5)",
)
_MODIFIERS = (
    "clamp", "omod:2", "mul:2", "mul:4", "div:2", "glc", "slc", "dlc", "scc", "sc0", "sc1", "nt", "lds", "tfe", "lwe",
    "da", "unorm", "r128", "a16", "d16", "gds", "offen", "idxen", "addr64", "done", "vm", "compr", "row_en", "nv",
    "op_sel:[0,1]", "op_sel:[1,0,0]", "op_sel:[1,1,1]", "op_sel:[0,0,0,1]", "op_sel_hi:[0,0]", "op_sel_hi:[1,0,1]",
    "neg_lo:[1,0]", "neg_lo:[1,0,0]", "neg_hi:[0,1]", "neg_hi:[0,1,0]", "quad_perm:[0,1,2,3]", "quad_perm:[3,3,3,4]",
    "row_shl:0", "row_shl:1", "row_shr:15", "row_shr:16", "row_ror:3", "wave_shl:1", "wave_rol:1", "wave_shr:2",
    "row_mirror", "row_half_mirror", "row_bcast:15", "row_bcast:31", "row_bcast:16", "row_share:3", "row_share:16",
    "row_xmask:1", "row_newbcast:2", "dpp8:[0,1,2,3,4,5,6,7]", "dpp8:[7,6,5,4,3,2,1,8]", "row_mask:0xa",
    "row_mask:0x10", "bank_mask:0x3", "bound_ctrl:0", "bound_ctrl:1", "bound_ctrl:2", "fi:1", "fi:0", "fi:2",
    "dst_sel:BYTE_1", "dst_sel:WORD_1", "dst_unused:UNUSED_PAD", "src0_sel:WORD_1", "src1_sel:BYTE_3",
    "src0_sel:FOO", "cbsz:1", "abid:1", "blgp:3", "offset:0", "offset:1", "offset:255", "offset:256", "offset:4095",
    "offset:4096", "offset:-1", "offset:2047", "offset:2048", "offset:-2048", "offset:65535", "offset:65536",
    "offset0:1", "offset1:255", "offset1:256", "offset:8388607", "dmask:0x1", "dmask:0xf", "dmask:0x0", "dmask:16",
    "dim:1D", "dim:2D", "dim:SQ_RSRC_IMG_3D", "dim:CUBE", "dim:2D_ARRAY", "th:TH_LOAD_NT", "th:TH_STORE_NT",
    "th:TH_ATOMIC_RETURN", "scope:SCOPE_SYS", "scope:SCOPE_FOO", "format:1", "format:128",
    "format:[BUF_FMT_32_FLOAT]", "dfmt:1", "wait_exp:3", "wait_exp:8", "wait_vdst:15", "wait_vdst:16",
    "byte_sel:1", "byte_sel:4", "bitop3:0x11", "bitop3:0x100", "index_key:1", "scale_offset", "matrix_a_reuse", "high",
    "neg:[1,0]", "abs:[1,0]", "foo", "foo:1",
)
_FORMS = ("", "_e32", "_e64", "_sdwa", "_dpp", "_e64_dpp")
_WIDTHS = (1, 1, 1, 2, 2, 3, 4, 5, 8, 16)


def _register(generator: random.Random, kind: str) -> str:
    count = generator.choice(_WIDTHS)
    first = generator.choice((0, 1, 2, 3, 4, 5, 6, 8, 16, 17, 40, 63, 96, 100, 101, 102, 104, 105, 106, 127, 128, 255))
    if kind == "ttmp":
        first %= 16
    half = generator.choice((".l", ".h")) if kind == "v" and generator.random() < 0.2 else ""
    return f"{kind}[{first}:{first + count - 1}]" if count > 1 else f"{kind}{first}{half}"


def _renumbered(text: str, generator: random.Random) -> str:
    """The same registers with other numbers."""
    numbers = re.findall(r"\d+", text)
    step = generator.choice((1, 1, 2, 3, 4, 5, 8))
    moved = (str(int(number) + step) for number in numbers)
    return re.sub(r"\d+", lambda match: next(moved), text)


def _operand(text: str, generator: random.Random) -> str:
    choice = generator.random()
    if choice < 0.25 and _REGISTER.fullmatch(text):
        return _renumbered(text, generator)
    if choice < 0.5:
        return _register(generator, generator.choice("vvvsssa"))
    if choice < 0.65:
        return generator.choice(_SPECIAL)
    if choice < 0.85:
        return generator.choice(_NUMBERS)
    form = generator.choice(("-{}", "|{}|", "-|{}|", "abs({})", "neg({})", "sext({})", "[{}]", "{}.h", "{}.l"))
    return form.format(text)


def split(text: str) -> tuple[str, list[str], list[str]]:
    """Mnemonic, operands, modifiers of half of an instruction."""
    mnemonic, _, rest = text.partition(" ")
    parts = re.split(r",\s*(?![^\[(]*[\])])", rest) if rest else []
    words = parts[-1].split(" ") if parts and "(" not in parts[-1] else []
    if len(words) > 1:
        parts[-1] = words[0]
        return mnemonic, parts, words[1:]
    return mnemonic, parts, []


def joined(mnemonic: str, operands: list[str], modifiers: list[str]) -> str:
    return " ".join(filter(None, (mnemonic, ", ".join(operands), *modifiers)))


def _other_operand(text: str, generator: random.Random) -> str:
    mnemonic, operands, modifiers = split(text)
    if operands:
        place = generator.randrange(len(operands))
        operands[place] = _operand(operands[place], generator)
    return joined(mnemonic, operands, modifiers)


def _same_operand(text: str, generator: random.Random) -> str:
    """Make two operands equal."""
    mnemonic, operands, modifiers = split(text)
    if len(operands) > 1:
        operands[generator.randrange(len(operands))] = generator.choice(operands)
    return joined(mnemonic, operands, modifiers)


def _scalar_operands(text: str, generator: random.Random) -> str:
    """Sources that are scalar registers and literals, for which the constant bus has limits."""
    mnemonic, operands, modifiers = split(text)
    kinds = ("s1", "s2", "s3", "vcc_lo", "m0", "0x12345678", "0x3039", "scc", "s[2:3]", "s[4:5]", "exec_lo", "1.5", "0")
    for place in range(1, len(operands)):
        if generator.random() < 0.7:
            operands[place] = generator.choice(kinds)
    return joined(mnemonic, operands, modifiers)


def _counted(text: str, generator: random.Random) -> str:
    """Add or remove an operand."""
    mnemonic, operands, modifiers = split(text)
    if operands and generator.random() < 0.5:
        del operands[generator.randrange(len(operands))]
    else:
        operands.insert(generator.randrange(len(operands) + 1), generator.choice(("v0", "s0", "vcc", "0", "off")))
    return joined(mnemonic, operands, modifiers)


def _more_modifiers(text: str, generator: random.Random) -> str:
    return f"{text} {generator.choice(_MODIFIERS)}"


def _other_modifier(text: str, generator: random.Random) -> str:
    mnemonic, operands, modifiers = split(text)
    if modifiers:
        place = generator.randrange(len(modifiers))
        name, colon, _ = modifiers[place].partition(":")
        alike = [word for word in _MODIFIERS if word.startswith(name + colon)]
        modifiers[place : place + 1] = [generator.choice(alike)] if alike and generator.random() < 0.6 else []
    return joined(mnemonic, operands, modifiers)


def _other_number(text: str, generator: random.Random) -> str:
    numbers = list(re.finditer(r"(?<![\w.\[:])-?(?:0x[0-9a-f]+|\d+)(?![\w.])", text))
    if not numbers:
        return text
    match = generator.choice(numbers)
    return text[: match.start()] + generator.choice(_NUMBERS) + text[match.end() :]


def _other_form(text: str, generator: random.Random) -> str:
    mnemonic, space, rest = text.partition(" ")
    return re.sub(r"(_e32|_e64_dpp|_e64|_sdwa|_dpp)$", "", mnemonic) + generator.choice(_FORMS) + space + rest


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    _other_operand, _other_operand, _same_operand, _scalar_operands, _counted, _more_modifiers, _other_modifier,
    _other_number, _other_form,
)


def mutated(text: str, generator: random.Random) -> str:
    """A mutated instruction, which may be invalid."""
    if " :: " in text:
        halves = text.split(" :: ")
        place = generator.randrange(2)
        halves[place] = mutated(halves[place], generator)
        return " :: ".join(halves)
    for _ in range(generator.choice((1, 1, 1, 2))):
        text = generator.choice(MUTATIONS)(text, generator)
    return text


def texts(target: str, every: int, generator: random.Random) -> Iterator[str]:
    """Printed instructions of a target, and mutations of each."""
    decoder = decoder_for(target)
    for _, word in encodings(target, every, 16, generator):
        instruction = decoder.decode(word.to_bytes(24, "little")[:20])
        if instruction.illegal or "/*" in instruction.text:
            continue
        yield instruction.text
        for _ in range(3):
            yield mutated(instruction.text, generator)
