"""Finds the names of earlier generations that LLVM's assembler also accepts for instructions.

Run by hand: ``python -m rocdbg.isa.generate.llvm_aliases``. It writes ``rocdbg/isa/tables/aliases.json``, which has,
for each table with such names, the instruction that each name means. To find them, instructions of other targets are
assembled for the target: if one is printed under another name, its own name means that instruction. The same is done
for instructions of the target written with the name of another target's.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rocdbg.isa.decoder import decoder_for
from rocdbg.isa.encoding_layouts import layouts
from rocdbg.isa.encoding_table import Table, base_name
from rocdbg.isa.generate.llvm_assembler import Assembler
from rocdbg.isa.generate.sample_words import words_of

TARGETS = (
    "gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030",
    "gfx1100", "gfx1150", "gfx1200", "gfx1250",
)
MODELS = ("gfx1100", "gfx1030", "gfx950", "gfx90a", "gfx803", "gfx700")
_SAMPLES = 40
_POLICY = re.compile(r" (glc|slc|dlc|done|clamp|lds|tfe|scc|nt|sc0|sc1|vm|unorm|da)\b")
_UNKNOWN = re.compile("invalid instruction|not supported")
_FORM = re.compile(r"^(\w+?)(_e32|_e64)?(?= |$)")


def samples(model: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield names that a target does not have, each with a text of the instruction."""
    table, decoder, own = Table(model), decoder_for(model), Table(target)
    known = {base_name(row[0]) for layout in layouts(own.family) for row in own.rows(layout.name, 64).values()}
    for layout in layouts(table.family):
        cases = 1
        for selector in layout.selectors:
            cases *= len(selector.codes) + 1
        if layout.src0 or layout.encoding == "VOPD":
            continue
        rows = table.rows(layout.name, 64)
        unknown = {int(key) // cases for key, row in rows.items() if base_name(row[0]) not in known}
        for opcode in sorted(unknown):
            words = words_of(layout, opcode, random.Random(1), 0)
            decoded = (decoder.decode(word.to_bytes(24, "little")[:20]) for word in words)
            legal = (found for found in decoded if not found.illegal and "/*" not in found.text)
            for found in itertools.islice(legal, _SAMPLES):
                text = _FORM.sub(r"\1", found.text)
                yield found.name, text
                yield found.name, _POLICY.sub("", text)


def aliases(target: str) -> dict[str, str]:
    """The meanings of other names."""
    asked = sorted({pair for model in MODELS if model != target for pair in samples(model, target)})
    found: dict[str, str] = {}
    for (name, _), answer in zip(asked, Assembler(target).ask([text for _, text in asked]), strict=True):
        if answer is not None:
            printed = base_name(answer[2].partition(" ")[0])
            if found.setdefault(name, printed) != printed:
                sys.stderr.write(f"{target}: {name} is {found[name]} and {printed}\n")
    return dict(sorted(found.items()))


def _names(target: str) -> dict[str, str]:
    """All instructions of a target, each with a text; an empty one if none is legal."""
    table, decoder = Table(target), decoder_for(target)
    found: dict[str, str] = {}
    for layout in layouts(table.family):
        if layout.src0 or layout.encoding == "VOPD":
            continue
        cases = 1
        for selector in layout.selectors:
            cases *= len(selector.codes) + 1
        for key, row in table.rows(layout.name, 64).items():
            name = base_name(row[0])
            if found.get(name):
                continue
            words = words_of(layout, int(key) // cases, random.Random(1), 0)
            decoded = (decoder.decode(word.to_bytes(24, "little")[:20]) for word in itertools.islice(words, _SAMPLES))
            texts = (one.text for one in decoded if one.name == name and not one.illegal and "/*" not in one.text)
            found[name] = next(texts, "")
    return found


def renamed(target: str) -> dict[str, str]:
    """Names of other targets' instructions that are accepted for the target's own."""
    own = _names(target)
    others = {name for model in (*MODELS, "gfx900", "gfx908", "gfx1200") for name in _names(model)}
    others.add("v_accvgpr_write")  # not its name on any target
    oracle = Assembler(target)
    strange = sorted(others - set(own))
    oracle.ask(strange)
    strange = [name for name in strange if not _UNKNOWN.search(oracle.errors.get(name, ""))]
    asked = [(name, base, _FORM.sub(name, text)) for name in strange for base, text in own.items() if text]
    found: dict[str, str] = {}
    for (name, base, _), answer in zip(asked, oracle.ask([text for *_, text in asked]), strict=True):
        if answer is not None and base_name(answer[2].partition(" ")[0]) == base:
            plain = oracle.one(_FORM.sub(base, own[base]))
            # Possibly only one form has the other name: v_add_co_u32 of gfx7 is a long form.
            same = plain is not None and plain[:2] == answer[:2]
            found.setdefault(name, base if same else answer[2].partition(" ")[0])
    return found


def main() -> int:
    path = Path(__file__).parent.parent / "tables" / "aliases.json"
    lines = []
    for target in TARGETS:
        known = dict(sorted((renamed(target) | aliases(target)).items()))
        lines += [f"{json.dumps(target)}:{json.dumps(known, separators=(',', ':'))}"] if known else []
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
