"""Generated encodings of every opcode against LLVM's disassembler, and properties of the decoder."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocdbg import isa
from rocdbg.arch import Generation
from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.encoding_layouts import layouts
from rocdbg.isa.encoding_table import Table, load, pack, unpack
from rocdbg.isa.generate.build_table import build
from rocdbg.isa.generate.llvm_assembler import Assembler
from rocdbg.isa.generate.llvm_disassembler import Oracle
from rocdbg.isa.generate.sample_words import encodings, words_of
from rocdbg.isa.generate.transfer import Transfer
from tests.arch.processors import AMDGCN
from tests.breadth import some_of
from tests.isa.soak.assembled_soak import foreign_texts, round_trips, texts_decoded
from tests.isa.soak.decoder_soak import compare

TABLES = Path(isa.__file__).parent / "tables"
DIGESTS = Path(__file__).with_name("tables.sha256")
TARGETS = ("gfx600", "gfx700", "gfx803", "gfx90a", "gfx942", "gfx1030", "gfx1100")


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("target", "wave_size", "every"),
    [
        ("gfx803", None, 1600),
        ("gfx810", None, 4000),
        ("gfx900", None, 1600),
        ("gfx90a", None, 900),
        ("gfx950", None, 900),
        ("gfx1013", 64, 2500),
        ("gfx1030", None, 900),
        ("gfx1100", None, 900),
        ("gfx1150", 64, 2500),
        ("gfx1200", None, 900),
        ("gfx1250", None, 900),
    ],
    ids=str,
)
def test_generated_encodings(target: str, wave_size: int | None, every: int) -> None:
    """At least 99.9 % of the encodings, legal or not, have LLVM's size and text (the soak script tests all of them)."""
    words = list(encodings(target, every, 16, random.Random(2)))
    oracle = Oracle(target, "+wavefrontsize64" if wave_size == 64 else "")
    wrong = [
        (layout, hex(word), got, expected)
        for layout, word, got, expected in compare(decoder_for(target, wave_size), oracle, words)
        # Halves of registers, which LLVM has for GFX12 with real-true16 only.
        if not (
            target in ("gfx1200", "gfx1250")
            and expected[0] == 0
            and re.match(r"v_(?:\w+ v\d+\.h|(?:mov|swap)_b16)", got[1])
        )
    ]
    oracle.close()
    assert len(words) > 1000
    assert len(wrong) * 1000 <= len(words), (len(wrong), wrong[:8])


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx600", "gfx700"])
def test_generated_encodings_assembled(target: str) -> None:
    """For targets with only an assembler in LLVM: texts are assembled to the encodings from which they were decoded."""
    words = [word for _, word in encodings(target, 900, 16, random.Random(3))]
    count, wrong = round_trips(decoder_for(target), Assembler(target), words)
    assert count > 300
    assert len(wrong) * 1000 <= count, (count, wrong[:8])


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx600", "gfx700"])
def test_texts_of_later_targets(target: str) -> None:
    """Texts of later targets that the assembler accepts, under older names too, are decoded to the text that it prints.
    """
    texts = list(foreign_texts(4000, random.Random(4)))
    count, wrong = texts_decoded(decoder_for(target), Assembler(target), texts)
    # LLVM assembles literals in VOP3, which has none there, and leaves them out.
    wrong = [entry for entry in wrong if "lit(" not in entry[2] or not entry[1].startswith(".long")]
    assert count > 300
    assert len(wrong) * 1000 <= count, (count, wrong[:8])


@pytest.mark.llvm
def test_rows_of_gfx6_are_found_again() -> None:
    """The rows that result from GFX8's rows, and their fields, equal those of the checked-in table."""
    maker = Transfer("gfx600")
    table = {
        (layout, int(key)): [row[0], [item[:3] for item in load("gfx600")["signatures"][row[1]][3]]]
        for layout, rows in load("gfx600")["rows"].items()
        for key, row in rows.items()
    }
    made = {place: [row.mnemonic, [item[:3] for item in row.items]] for place, row in maker.rows().items()}
    renamed = {"v_nop": "v_nop_e64", "v_clrexcp": "v_clrexcp_e64"}
    for place, row in made.items():
        if place[0] == "VOP3":
            row[0] = renamed.get(row[0], row[0])
    assert made == table
    names = {row[0] for row in table.values()}
    assert {"v_mullit_f32", "v_mac_legacy_f32_e32", "v_cmps_lt_f32_e32", "buffer_atomic_fmin"} <= names


def resolve(table: dict[str, Any], layouts: str) -> dict[tuple[str, str, str], Any]:
    """Rows of some layouts, with the values that their numbers represent."""
    places = {"o": 3, "m": 3, "n": 6, "N": 6, "w": 4}
    found: dict[tuple[str, str, str], Any] = {}
    for section in ("rows", "wave64"):
        for layout, rows in table.get(section, {}).items():
            for key, row in rows.items() if re.fullmatch(layouts, layout) else ():
                if row is None:
                    found[section, layout, key] = None
                    continue
                *head, items = table["signatures"][row[1]]
                shown = []
                for item in items:
                    place = places.get(item[0], 0)
                    vector = table["texts"][item[place]] if place and item[place] >= 0 else None
                    shown.append([*item[:place], vector, *item[place + 1 :]] if place else item)
                found[section, layout, key] = [row[0], head, shown]
    return found


def _telling(family: str, tables: list[str]) -> list[int]:
    """Words that distinguish the tables of a family: for each pair, opcodes that one table lacks or names differently.
    """
    generator, words = random.Random(5), set[int]()
    rows = {name: {(layout, key): row[0] for layout, part in load(name)["rows"].items() for key, row in part.items()}
            for name in tables}
    for one, other in itertools.permutations(tables, 2):
        differing = [at for at, name in rows[one].items() if rows[other].get(at) != name and name]
        for layout, key in differing[:: len(differing) // 2 + 1]:
            place = next(each for each in layouts(family) if each.name == layout)
            opcode = int(key) // math.prod(len(s.codes) + 1 for s in place.selectors)
            decoder = decoder_for(one)
            legal = (w for w in words_of(place, opcode, generator, 0) if not decoder.decode(_bytes(w)).illegal)
            words |= set(itertools.islice((w for w in legal if decoder.decode(_bytes(w)).encoding == layout), 1))
    return sorted(words)


def _bytes(word: int) -> bytes:
    return word.to_bytes(24, "little")[:20]


@pytest.mark.llvm
@pytest.mark.parametrize("family", sorted({t.family for t in AMDGCN if t.generation >= Generation.GFX8}))
def test_each_processor_has_the_table_of_its_code(family: str) -> None:
    """Where the tables of a family differ, the table in a target's row decodes as LLVM does for that target."""
    targets = [target for target in AMDGCN if target.family == family]
    words = _telling(family, sorted({target.encodings for target in targets}))
    for target in targets:
        oracle = Oracle(target.name)
        found = compare(decoder_for(target.name), oracle, [("", word) for word in words])
        # Code for several processors has only what all of them have; LLVM takes nothing else of it.
        wrong = [(got, expected) for _, _, got, expected in found if expected[0] or not target.is_generic]
        oracle.close()
        assert wrong == [], target.name


LEARNT = [
    ("gfx803", "SOP1|SMEM"),
    ("gfx90a", "SOP1|SOP2|VOP2"),
    ("gfx900", "MIMG"),
    ("gfx1013", "EXP.*|VINTRP"),
    ("gfx1100", "VOP1|LDSDIR"),
    ("gfx1200", "VIMAGE|SOPC"),
]
QUICKLY = [
    ("gfx803", "SMEM"), ("gfx90a", "SOP2|VOP2"), ("gfx900", "MIMG"), ("gfx1013", "EXP.*|VINTRP"),
    ("gfx1100", "LDSDIR"), ("gfx1200", "SOPC"),
]


@pytest.mark.llvm
@pytest.mark.truth
@pytest.mark.parametrize(("target", "layouts"), some_of([*LEARNT, *QUICKLY], QUICKLY))
def test_table_is_what_the_generator_makes(target: str, layouts: str) -> None:
    """Some layouts are learnt again; the checked-in rows must be the same."""
    learnt, _ = build(target, load(target), layouts)
    rows = resolve(json.loads(json.dumps(learnt)), layouts)
    assert len(rows) > 1
    assert rows == resolve(load(target), layouts)


def test_tables_are_those_that_were_compared_with_llvm() -> None:
    """After a table changes, the whole table is compared (`make truth`) and then recorded with `sha256sum *.json`."""
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in sorted(TABLES.glob("*.json"))}
    rows = [line.split() for line in DIGESTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert found == {name: digest[:16] for digest, name in rows}


@pytest.mark.parametrize("target", ["gfx900", "gfx1100"])
def test_reading_by_line(target: str) -> None:
    """The reader that parses only the lines it needs agrees with parsing the file as JSON."""
    whole, lazy = load(target), Table(target)
    assert lazy.family == whole["family"]
    for layout, rows in whole["rows"].items():
        assert lazy.rows(layout, 32) == rows
    assert lazy.rows("no such layout", 32) == {}
    assert [lazy.signature(i) for i in range(len(whole["signatures"]))] == whole["signatures"]
    assert [lazy.values(i) for i in range(len(whole["texts"]))] == whole["texts"]


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


@settings(max_examples=300)
@given(code=st.binary(max_size=40), target=st.sampled_from(TARGETS))
def test_any_bytes_decode(code: bytes, target: str) -> None:
    """Disassembly covers every byte once; a single decode fails only if bytes are missing."""
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
    with pytest.raises(isa.UnknownEncodingError, match="Cannot disassemble code for cayman"):
        isa.decode(bytes(4), "cayman")


def test_wave_size_decides_mask_width() -> None:
    code = bytes.fromhex("0105227c")  # v_cmp_lt_f32 on gfx1100
    assert isa.decode(code, "gfx1100").text == "v_cmp_lt_f32_e32 vcc_lo, v1, v2"
    assert isa.decode(code, "gfx1100", wave_size=64).text == "v_cmp_lt_f32_e32 vcc, v1, v2"


def test_what_follows_may_decide() -> None:
    """v_nop with an SDWA or DPP code is longer if its control word allows that; results of both are not confused."""
    plain, long = bytes.fromhex("f900007e ffffffff"), bytes.fromhex("f900007e 00000000")
    for _ in range(2):
        assert isa.decode(plain, "gfx90a").size == 4
        assert isa.decode(long, "gfx90a").size == 8


@pytest.mark.parametrize(
    ("code", "target", "text"),
    [
        ("9c0f00f0 0a140400", "gfx1100",
         "image_load v[20:23], v[10:13], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D_MSAA_ARRAY unorm"),
        ("0a0f00f0 0a140400 494a4b4c", "gfx1030",
         "image_load v[20:23], [v10, v73], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D"),
        ("000100f0 fff00400", "gfx900", "image_load v240, v255, s[16:23] dmask:0x1"),
        ("470000d0 01200000 05060000", "gfx1200",
         "image_load v1, [v5, v6], s[16:23] dim:SQ_RSRC_IMG_2D_MSAA_ARRAY a16"),
        ("019f98f1 09040100", "gfx1030", "image_bvh_intersect_ray v[4:7], v[9:19], s[4:7]"),
        ("019f98f1 ff040440", "gfx1030", "image_bvh_intersect_ray v[4:7], v[255:262], s[16:19] a16"),
        ("5040c6d3 27180001 322e1428", "gfx1200", ".long 0xd3c64050"),  # its fifth address must be 0 with a16
        ("5040c6d3 27180000 322e1428", "gfx1200",
         "image_bvh_intersect_ray v[39:42], [v50, v46, v[20:22], v[40:42]], s[12:15] a16"),
        ("ff0500f8 01020000", "gfx1010", "exp invalid_target_31 v1, v1, v2, v2 compr"),
        ("0000acd3 18330200 0008add3 04195204", "gfx950",
         "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23], v24, v25 op_sel_hi:[0,0,0]"),
    ],
)
def test_text(code: str, target: str, text: str) -> None:
    assert isa.decode(bytes.fromhex(code), target).text == text
