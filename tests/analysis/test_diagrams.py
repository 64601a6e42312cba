"""Decision diagrams that contain less information than others."""

from __future__ import annotations

import random
from itertools import product

import pytest

from rocdbg.analysis.diagrams import Diagrams

BITS = 8


def value(diagrams: Diagrams, diagram: int, bits: dict[int, int]) -> int:
    variable, low, high = diagrams.content(diagram)
    while variable >= 0:
        variable, low, high = diagrams.content(high if bits[variable] else low)
    return low


def nodes(diagrams: Diagrams, diagram: int) -> set[int]:
    variable, low, high = diagrams.content(diagram)
    return {diagram} | nodes(diagrams, low) | nodes(diagrams, high) if variable >= 0 else set()


@pytest.mark.parametrize("most", [0, 1, 5, 20, 60, 1000])
def test_a_coarsened_diagram_allows_what_the_diagram_did(most: int) -> None:
    """In this test, leaves are sets of bits, joined by union."""
    choice = random.Random(7)
    diagrams = Diagrams(lambda one, other: one | other, lambda name: 0)
    variables = [diagrams.variable(name) for name in range(BITS)]
    layer = [diagrams.leaf(1 << choice.randrange(4)) for _ in range(1 << BITS)]
    for variable in variables:
        bit = diagrams.bit(variable)
        layer = [diagrams.choose(bit, high, low) for low, high in zip(layer[::2], layer[1::2], strict=True)]
    exact = layer[0]
    coarse = diagrams.coarsened(exact, most)
    assert len(nodes(diagrams, coarse)) <= most
    assert (coarse == exact) is (len(nodes(diagrams, exact)) <= most)
    kept = diagrams.support(coarse)
    for bits in product((0, 1), repeat=BITS):
        given = dict(zip(variables, bits, strict=True))
        union = 0
        for others in product((0, 1), repeat=BITS - len(kept)):
            free = dict(zip([name for name in variables if name not in kept], others, strict=True))
            union |= value(diagrams, exact, given | free)
        assert value(diagrams, coarse, given) == union
