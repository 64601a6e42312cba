"""Sampled encodings of every opcode against LLVM's disassembler, and properties of the decoder."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocdbg import isa
from rocdbg.isa.formats import layouts
from rocdbg.isa.generate.build import learn_layouts
from rocdbg.isa.generate.oracle import Oracle
from rocdbg.isa.generate.sample import samples
from rocdbg.isa.table import load, pack, unpack

TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100")


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("target", "wave_size"), [(t, None) for t in TARGETS] + [("gfx1030", 64), ("gfx1100", 64)], ids=str
)
def test_sampled_encodings(target: str, wave_size: int | None) -> None:
    """At least 99.9 % of the encodings, legal or not, have LLVM's size and text."""
    words = list(samples(load(target), random.Random(2), 4))
    oracle = Oracle(target, "+wavefrontsize64" if wave_size == 64 else "")
    answers = oracle.ask([word for _, word in words])
    oracle.close()
    wrong, legal = [], 0
    for (layout, word), (size, text) in zip(words, answers, strict=True):
        instruction = isa.decode(word.to_bytes(20, "little"), target, wave_size=wave_size)
        got = (0, "") if instruction.illegal else (instruction.size, instruction.text)
        legal += size > 0
        if got != (size, text):
            wrong.append((layout, hex(word), got, (size, text)))
    assert legal > 4000
    assert len(wrong) * 1000 <= len(words), (len(wrong), wrong[:8])


@pytest.mark.llvm
def test_table_is_what_the_generator_makes() -> None:
    """Some layouts are learnt again; the checked-in rows must say the same."""
    names = ("SOP1", "SOP2", "VOP2", "DS")
    oracle = Oracle("gfx90a")
    learnt = learn_layouts(oracle, [form for form in layouts("gfx90a") if form.name in names])
    oracle.close()
    table = load("gfx90a")
    found = {(name, int(key)): row for name in names for key, row in table["rows"][name].items()}
    assert {key: row.mnemonic for key, row in learnt.items()} == {key: row[0] for key, row in found.items()}
    for key, row in learnt.items():
        signature = table["signatures"][found[key][1]]
        assert (row.size, hex(row.must_mask), hex(row.must_value)) == tuple(signature[:3]), key
        texts = [item.texts for item in row.items if item.sort in ("operand", "modifier")]
        assert texts == [unpack(table["texts"][i[3]]) for i in signature[3] if i[0] in "om"], key


@pytest.mark.parametrize(
    "texts",
    [
        ("v0", "v1", "v2", "v3", None, "5", "6", "7", "-1", "-2", "-3", "vcc"),
        ("s[0:1]", "s[0:1]", "s[2:3]", "s[2:3]", "s[4:5]", "s[4:5]", None, None),
        ("v[0:1]", "v[1:2]/*Invalid*/", "v[2:3]", "v[3:4]/*Invalid*/", "v[4:5]", "v[5:6]/*Invalid*/"),
        (None, None),
        ("", "clamp"),
    ],
)
def test_pack_and_unpack(texts: tuple[str | None, ...]) -> None:
    assert unpack(json.loads(json.dumps(pack(texts)))) == texts


@settings(max_examples=300, deadline=None)
@given(code=st.binary(max_size=40), target=st.sampled_from(TARGETS))
def test_any_bytes_decode(code: bytes, target: str) -> None:
    """Disassembly covers every byte once; a single decode fails only where bytes are missing."""
    offset = 0
    for instruction in isa.disassemble(code, target, 0x1000):
        assert instruction.address == 0x1000 + offset
        assert 0 < instruction.size <= 20
        assert instruction.text.startswith(instruction.mnemonic.partition(" :: ")[0])
        offset += instruction.size
    assert offset == len(code)
    try:
        isa.decode(code, target)
    except isa.DecodeError as error:
        assert error.available < error.needed


def test_missing_bytes() -> None:
    literal = bytes.fromhex("ff040402 78563412")  # v_add_f32_e32 v2, 0x12345678, v2
    assert isa.decode(literal, "gfx90a").size == 8
    for length in range(8):
        with pytest.raises(isa.DecodeError) as caught:
            isa.decode(literal[:length], "gfx90a", 0x100)
        assert caught.value.address == 0x100
        assert caught.value.available == length
    assert [i.text for i in isa.disassemble(literal[:6], "gfx90a")] == [
        ".long 0x020404ff",
        ".byte 0x78, 0x56",
    ]


def test_unknown_target() -> None:
    with pytest.raises(isa.UnknownEncodingError, match="Cannot disassemble code for gfx600"):
        isa.decode(bytes(4), "gfx600")


def test_wave_size_decides_mask_width() -> None:
    code = bytes.fromhex("0105227c")  # v_cmp_lt_f32 on gfx1100
    assert isa.decode(code, "gfx1100").text == "v_cmp_lt_f32_e32 vcc_lo, v1, v2"
    assert isa.decode(code, "gfx1100", wave_size=64).text == "v_cmp_lt_f32_e32 vcc, v1, v2"
