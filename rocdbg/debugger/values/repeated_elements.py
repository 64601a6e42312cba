"""Runs of equal elements in an array, which are shown once."""

from __future__ import annotations

from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import AbsentError

_LONGEST_RUN = 10_000
"""Elements of an array that is there in part only which are compared with the one before."""


def run_length(value: Value, start: int, count: int) -> int:
    """How many elements from ``start`` on are the same (absent ones are all the same)."""
    _, _, stride = value.elements()
    if stride == 0:
        return count - start
    if value.data is not None:
        return _repeats(value.data, start, count, stride)
    key = _key(value.element(start))
    end = start + 1
    stop = min(count, start + _LONGEST_RUN)
    while end < stop and _key(value.element(end)) == key:
        end += 1
    return end - start


def _repeats(data: bytes, start: int, count: int, stride: int) -> int:
    """How many elements of ``stride`` bytes from ``start`` on are the same."""
    first = data[start * stride : (start + 1) * stride]
    end, step = start + 1, 1
    while end < count and step:
        step = min(step, count - end)
        if data[end * stride : (end + step) * stride] == first * step:
            end += step
            step *= 2
        else:
            step //= 2
    return end - start


def _key(value: Value) -> object:
    try:
        return value.contents()
    except AbsentError as error:
        return error.absence
