"""Everything that the decoder accepts is translated, or refused by a stop: no encoding causes an exception."""

from __future__ import annotations

import random

import pytest

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.decoder import DecodeError, decoder_for
from rocdbg.isa.generate.sample_words import encodings
from rocdbg.sim.core import layout
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.engine.native import Engine
from rocdbg.sim.translator.blocks import form_block, obstacle
from rocdbg.sim.translator.translate import Context, translate
from rocdbg.sim.translator.wave_builder import WaveBuilder
from tests.breadth import EVERYTHING


@pytest.mark.truth
@pytest.mark.parametrize("name", ["gfx906", "gfx90a", "gfx1030", "gfx1100", "gfx1201", "gfx1250"])
def test_every_encoding_is_translated_or_refused(name: str) -> None:
    target = target_by_name(name)
    wave_size = target.default_wave_size
    engine = Engine(target, wave_size, GlobalMemory().page_table_address, lambda address, size: b"")
    decoder, translated = decoder_for(name, wave_size), 0
    for _, word in encodings(name, 600 if EVERYTHING else 1500, 12, random.Random(3)):
        try:
            instruction = decoder.decode(word.to_bytes(32, "little")[:20])
        except DecodeError:
            continue
        if obstacle(instruction) is not None:
            continue
        block = form_block(0, {0: instruction}.get, lambda address: False, 1)
        builder = WaveBuilder(wave_size, engine.jit.width, engine.jit.masked_stores, engine._helpers)
        (done,) = translate(builder, [block], ["f"], Context(target, wave_size, layout.Mode(0xF0))).blocks
        translated += bool(done.instructions)
    assert translated > (500 if EVERYTHING else 200)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("gfx90a", "880089d208130100"),  # v_readlane_b32 8/*Invalid immediate*/, v8, 9
    ],
)
def test_results_that_go_nowhere_are_illegal(name: str, code: str) -> None:
    instruction = decoder_for(name).decode(bytes.fromhex(code) + bytes(12))
    assert not instruction.illegal
    assert obstacle(instruction) is layout.Status.ILLEGAL
