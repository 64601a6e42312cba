"""The value history: the results of `$`, `$$`, `$$n`, `$n` and `show values`, as in GDB 13."""

from __future__ import annotations

import pytest

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_history import ValueHistory
from rocdbg.debugger.values.value_storage import MemoryStorage
from tests.debugger.toy_target import DictionaryTarget


def history(count: int) -> ValueHistory:
    """The first value is 10, the second 20, and so on."""
    made = ValueHistory()
    for number in range(1, count + 1):
        assert made.record(Value.of_int(c_types.INT, 10 * number)) == number
    return made


RELATIVE = [
    # values, how far back, what is there
    (3, 0, 30),  # $
    (3, 1, 20),  # $$
    (3, 2, 10),  # $$2
    (1, 0, 10),
    (3, 3, "History does not go back to $$3."),
    (1, 1, "History does not go back to $$1."),
    (7, 9, "History does not go back to $$9."),
    (0, 0, "The history is empty."),
    (0, 1, "History does not go back to $$1."),
]


@pytest.mark.parametrize(("count", "back", "expected"), RELATIVE)
def test_relative(count: int, back: int, expected: int | str) -> None:
    try:
        found: int | str = history(count).relative(back).as_int()
    except ExpressionError as error:
        found = str(error)
    assert found == expected


ABSOLUTE = [
    (3, 1, 10),
    (3, 3, 30),
    (3, 4, "History has not yet reached $4."),
    (7, 9, "History has not yet reached $9."),
    (0, 1, "History has not yet reached $1."),
]


@pytest.mark.parametrize(("count", "number", "expected"), ABSOLUTE)
def test_absolute(count: int, number: int, expected: int | str) -> None:
    try:
        found: int | str = history(count).get(number).as_int()
    except ExpressionError as error:
        found = str(error)
    assert found == expected


SHOWN = [
    # values, the first number wanted, the first and the last number shown
    (12, 3, (3, 12)),
    (12, 1, (1, 10)),
    (12, 7, (7, 12)),
    (7, 1, (1, 7)),
    (7, 8, None),
    (0, 1, None),
]


@pytest.mark.parametrize(("count", "first", "ends"), SHOWN)
def test_rows(count: int, first: int, ends: tuple[int, int] | None) -> None:
    rows = [(number, value.as_int()) for number, value in history(count).rows(first, 10)]
    expected = range(ends[0], ends[1] + 1) if ends is not None else ()
    assert rows == [(number, 10 * number) for number in expected]


def test_a_value_is_kept_as_it_was() -> None:
    memory = DictionaryTarget(memory={(0, 0x100 + index): byte for index, byte in enumerate(b"\5\0\0\0")})

    class Global:
        """The target's memory, independent of any lane."""

        read = staticmethod(memory.read_memory)
        write = staticmethod(memory.write_memory)
        generic_address = staticmethod(memory.generic_address)
        is_generic = staticmethod(memory.is_generic)

    there = Value(c_types.INT, MemoryStorage(Global(), 0, 0x100))
    kept = ValueHistory()
    kept.record(there)
    memory.write_memory(0, 0x100, b"\6")
    assert [there.as_int(), kept.get(1).as_int()] == [6, 5]
