"""``--processor-time``: the processor time of each folder of tests, its own and that of the programs it starts.

Wall time depends on other programs on the machine as much as on a test; processor time does not. A fixture counts for
the first test that needs it. Collecting tests and starting workers are not included.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Iterator
from typing import Any

import pytest

SLOWEST = 40
"""The number of slowest tests that the report lists one by one."""


def spent() -> float:
    """Seconds of processor time of this process and of the child processes for which it has waited."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


class Accounting:
    """Adds up the processor time that reports of tests, from this process or from workers, contain."""

    def __init__(self, into: str) -> None:
        self._last = spent()
        self._tests: collections.Counter[str] = collections.Counter()
        self._into = into

    def pytest_collection_finish(self) -> None:
        self._last = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        """A phase of a test has ended: its share is the processor time spent since the previous phase ended."""
        report: Any = yield
        now = spent()
        report.processor_time, self._last = now - self._last, now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._tests[report.nodeid] += getattr(report, "processor_time", 0.0)
        if self._into and report.when == "teardown":
            with open(self._into, "a") as file:  # noqa: PTH123
                file.write(f"{self._tests[report.nodeid]:.3f} {report.nodeid}\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        folders: collections.Counter[str] = collections.Counter()
        items: collections.Counter[str] = collections.Counter()
        for name, seconds in self._tests.items():
            folder = name.split("::")[0].rpartition("/")[0]
            folders[folder] += seconds
            items[folder] += 1
        terminalreporter.section("processor time")
        for name, seconds in folders.most_common():
            terminalreporter.write_line(f"{seconds:9.1f} s {items[name]:7} tests  {name}")
        terminalreporter.write_line(f"{sum(folders.values()):9.1f} s {sum(items.values()):7} tests")
        for name, seconds in self._tests.most_common(SLOWEST):
            terminalreporter.write_line(f"{seconds:9.2f} s  {name}")
