"""The progress bar of long runs."""

from __future__ import annotations

import io
import time

import pytest

from rocdbg import work
from rocdbg.cli import progress
from rocdbg.cli.progress import ProgressBar, ProgressLine
from rocdbg.debugger.session import Session
from rocdbg.debugger.target.capabilities.runnable import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def wait_for(stream: io.StringIO, text: str) -> None:
    limit = time.monotonic() + 20
    while text not in stream.getvalue():
        assert time.monotonic() < limit, stream.getvalue()
        time.sleep(0.01)


def test_bar_is_drawn_while_the_program_runs_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.01)
    monkeypatch.setattr(progress, "INTERVAL", 0.01)
    stream = Terminal()
    bar = ProgressBar(lambda: Progress(12_345_678, 3, 8), stream)
    bar.started()
    wait_for(stream, "3/8 workgroups, 12.3M instructions")
    assert " 38%|" in stream.getvalue()
    bar.ended()
    assert stream.getvalue().endswith("\r\x1b[K")
    bar.started()  # the command lets the program continue again
    before = len(stream.getvalue())
    limit = time.monotonic() + 20
    while len(stream.getvalue()) == before:
        assert time.monotonic() < limit
        time.sleep(0.01)
    bar.close()
    after = stream.getvalue()
    time.sleep(0.05)
    assert stream.getvalue() == after


def test_work_without_a_program_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressBar, "delay", 0.01)
    monkeypatch.setattr(progress, "INTERVAL", 0.01)
    stream = Terminal()
    with progress.work_shown(stream):
        with work.doing("reading symbols", 8):
            work.unit(3)
            wait_for(stream, "\rreading symbols: 3 of 8\x1b[K")
        assert stream.getvalue().endswith("\r\x1b[K")
        after = stream.getvalue()
        time.sleep(0.05)
        assert stream.getvalue() == after


def test_the_status_line_says_how_work_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressLine, "delay", 0.01)
    monkeypatch.setattr(progress, "INTERVAL", 0.01)
    shown: list[str] = []
    line = ProgressLine(lambda: None, shown.append)
    with work.watched(line.work_began, line.work_ended), work.doing("reading symbols"):
        limit = time.monotonic() + 20
        while not shown:
            assert time.monotonic() < limit
            time.sleep(0.01)
    line.close()
    assert shown[0] == "reading symbols: 0 (Ctrl-C ends it)"
    assert shown[-1] == ""


def test_nothing_is_drawn_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 1000)
    stream = Terminal()
    bar = ProgressBar(lambda: Progress(1, 0, 1), stream)
    bar.started()
    bar.close()
    assert stream.getvalue() == ""


def test_nothing_is_drawn_where_nothing_can_be_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    watched: list[object] = []
    monkeypatch.setattr(session.running, "watch", lambda started, ended: watched.append(started))
    for term, times in (("dumb", 0), ("xterm", 2)):
        monkeypatch.setenv("TERM", term)
        with progress.progress_shown(session, Terminal()):
            pass
        assert len(watched) == times  # at the command's beginning and end


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (950, "950"), (999.6, "1k"), (12_345, "12.3k"), (4_560_000, "4.56M"), (7.89e9, "7.89G"), (3e12, "3T")],
)
def test_short_numbers(number: float, text: str) -> None:
    assert progress._short(number) == text
