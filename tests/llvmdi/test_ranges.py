"""Ranges of instructions, against sets of the instructions in them: all that six instructions allow."""

from __future__ import annotations

from itertools import product

from rocdbg.llvmdi import debug_record_lifetimes, overlap
from rocdbg.llvmdi.function_flow import Range, contains, joined

COUNT = 6
ALL = range(1 << COUNT)


def ranges_of(mask: int) -> tuple[Range, ...]:
    """The runs of bits that are set: ``0b1101`` is 0 to 1, 2 to 4."""
    edges = [n for n in range(COUNT + 1) if (mask << 1 >> n & 1) != (mask >> n & 1)]
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def instructions(ranges: list[Range] | tuple[Range, ...]) -> set[int]:
    return {n for first, last in ranges for n in range(first, last)}


def test_runs() -> None:
    assert [ranges_of(mask) for mask in (0, 1, 0b1101, 0b110000)] == [(), ((0, 1),), ((0, 1), (2, 4)), ((4, 6),)]


def test_what_two_have_in_common() -> None:
    for a, b in product(ALL, ALL):
        found = overlap._common(ranges_of(a), ranges_of(b))
        assert tuple(found) == ranges_of(a & b), (ranges_of(a), ranges_of(b))


def test_joined() -> None:
    for a, b in product(ALL, ALL):
        assert joined((*ranges_of(a), *ranges_of(b))) == ranges_of(a | b), (ranges_of(a), ranges_of(b))


def test_contained() -> None:
    for mask in ALL:
        assert [contains(ranges_of(mask), n) for n in range(COUNT)] == [bool(mask >> n & 1) for n in range(COUNT)]


def test_whether_fragments_overlap() -> None:
    """A fragment is its first bit and its number of bits; without one, a record is about the whole variable."""
    fragments = [(first, bits) for first in range(COUNT) for bits in range(1, COUNT + 1 - first)]
    for a, b in product(fragments, fragments):
        assert debug_record_lifetimes._overlap(a, b) == bool(
            instructions([(a[0], sum(a))]) & instructions([(b[0], sum(b))])
        ), (a, b)
        assert debug_record_lifetimes._overlap(a, None) and debug_record_lifetimes._overlap(None, b)
