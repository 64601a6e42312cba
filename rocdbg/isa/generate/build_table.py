"""Learns all rows of a target and builds its table."""

from __future__ import annotations

import itertools
import re
from typing import Any

from rocdbg.arch import targets
from rocdbg.isa.encoding_layouts import Layout, family_of, layouts, width
from rocdbg.isa.encoding_table import ItemTag, bits_text, pack
from rocdbg.isa.generate.learn import Item, Learner, Row
from rocdbg.isa.generate.learn_images import ImageLearner
from rocdbg.isa.generate.llvm_disassembler import Oracle
from rocdbg.isa.generate.value_pools import Pool

TARGETS = tuple(
    sorted(
        {target.encodings for target in targets.TARGETS.values() if target.encodings},
        key=lambda name: (name in ("gfx600", "gfx700"), targets.TARGETS[name].mach),
    )
)
"""Targets with a table of their own; those derived from another's table come last."""
LLVM = "LLVM 22"
IMAGES = ("MIMG", "VIMAGE", "VSAMPLE")


def _item(item: Item, texts: Pool) -> list[Any]:
    match item.sort:
        case "operand":
            packed = texts.number(pack(item.texts))
            signs = item.neg, item.abs, item.sext
            return [ItemTag.OPERAND, item.name, bits_text(item.bits), packed, item.literal, *signs]
        case "modifier":
            return [ItemTag.MODIFIER, item.name, bits_text(item.bits), texts.number(pack(item.texts))]
        case "number" | "nummod":
            exceptions = texts.number(sorted(item.exceptions.items())) if item.exceptions else -1
            tag = ItemTag.NUMBER if item.sort == "number" else ItemTag.NUMBER_MODIFIER
            return [
                tag,
                item.name,
                bits_text(item.bits),
                item.style,
                item.prefix,
                int(item.silent),
                exceptions,
            ]
        case "registers":
            runs = [[count, len(list(group))] for count, group in itertools.groupby(item.counts)]
            number = texts.number(runs)
            return [ItemTag.REGISTERS, item.name, bits_text(item.bits), bits_text(item.controls), number, item.default]
        case "open" | "close":
            return [ItemTag(item.sort)]
        case "literal":
            return [ItemTag.LITERAL, item.style]
        case "fixed":
            return [ItemTag.FIXED, item.text]
        case _:
            return [ItemTag.FIXED_MODIFIER, item.text]


def learn_layouts(
    oracle: Oracle, selected: list[Layout], known: dict[Any, Any] | None = None
) -> dict[tuple[str, int], Row]:
    """All rows of some layouts; the key is the layout name and the opcode combined with the selector case."""
    rows: dict[tuple[str, int], Row] = {}
    known = {} if known is None else known
    for layout in selected:
        learner = (ImageLearner if layout.name.startswith(IMAGES) else Learner)(oracle, layout, known)
        cases = list(itertools.product(*[range(len(s.codes) + 1) for s in layout.selectors]))
        for opcode in layout.opcodes or range(1 << width(layout.opcode)):
            plain = layout.name.replace("VOP3SD", "VOP3")
            if plain != layout.name and not learner.has_scalar_destination(opcode):
                continue
            if layout.name.startswith("VOP3") and ("VOP3SD" + layout.name[4:], opcode) in rows:
                continue
            for number, case in enumerate(cases):
                row = learner.learn(opcode, case)
                if row is not None:
                    rows[layout.name, opcode * len(cases) + number] = row
    return rows


_POOLED = {
    ItemTag.OPERAND: 3, ItemTag.MODIFIER: 3, ItemTag.NUMBER: 6, ItemTag.NUMBER_MODIFIER: 6, ItemTag.REGISTERS: 4,
}
"""For each tag, the position in the item at which the number of a pooled vector is."""


def _kept(
    rows: dict[str, Any], previous: dict[str, Any], signatures: Pool, texts: Pool
) -> dict[str, list[Any]]:
    """Rows of an earlier table, renumbered for the new pools."""
    result: dict[str, list[Any]] = {}
    for key, row in rows.items():
        *head, items = previous["signatures"][row[1]]
        renumbered = []
        for item in items:
            place = _POOLED.get(item[0], 0)
            if place and item[place] >= 0:
                item = [*item[:place], texts.number(previous["texts"][item[place]]), *item[place + 1 :]]
            renumbered.append(item)
        result[key] = [row[0], signatures.number([*head, renumbered])]
    return result


def build(
    target: str, previous: dict[str, Any] | None = None, only: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """Build the table of a target; also returns a list of the oddities found.

    With the ``previous`` table, only layouts whose names match the expression ``only`` are learnt again.
    """
    family = family_of(target)
    if family in ("gfx6", "gfx7"):
        from rocdbg.isa.generate.transfer import transfer

        draft, odd = transfer(target)
        return draft.raw, odd
    texts, signatures = Pool(), Pool()
    notes: list[str] = []
    table: dict[str, Any] = {"target": target, "family": family, "from": LLVM, "count": 0}
    base: dict[str, dict[str, list[Any]]] = {}
    waves = ("", "+wavefrontsize64") if family in ("gfx10", "gfx11", "gfx12") else ("",)
    forms = [form for form in layouts(family) if previous is None or re.fullmatch(only, form.name)]
    kept = {form.name for form in layouts(family)} - {form.name for form in forms}
    for features in waves:
        oracle = Oracle(target, features)
        encoded: dict[str, dict[str, list[Any]]] = {}
        for name in kept & set(previous["rows"] if previous else ()):
            assert previous is not None
            rows = previous["rows"][name] | (previous["wave64"].get(name, {}) if features else {})
            rows = {key: row for key, row in rows.items() if row is not None}
            encoded[name] = _kept(rows, previous, signatures, texts)
        for (name, key), row in learn_layouts(oracle, forms).items():
            notes += [f"{features}{name} {key} {row.mnemonic}: {note}" for note in row.notes]
            signature = [
                row.size,
                hex(row.must_mask),
                hex(row.must_value),
                [_item(i, texts) for i in row.items],
            ]
            encoded.setdefault(name, {})[str(key)] = [row.mnemonic, signatures.number(signature)]
        oracle.close()
        if not features:
            order = [form.name for form in layouts(family)]
            base = dict(sorted(encoded.items(), key=lambda item: order.index(item[0])))
            table["rows"] = base
            table["count"] = sum(len(v) for v in base.values())
        else:
            table["wave64"] = {
                name: changed
                for name, some in sorted(encoded.items())
                if (changed := {k: v for k, v in some.items() if base.get(name, {}).get(k) != v})
            }
            for name, some in base.items():
                for absent in sorted(set(some) - set(encoded.get(name, {}))):
                    table["wave64"].setdefault(name, {})[absent] = None
    table["signatures"] = signatures.values
    table["texts"] = texts.values
    return table, notes
