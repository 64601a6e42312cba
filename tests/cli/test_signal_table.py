"""What `handle` changes of a signal, whatever was set before; GDB's manual says which action implies which."""

from __future__ import annotations

import itertools

import pytest

from rocdbg.cli.signal_table import SignalTable

# the action; whether the signal then stops the program, is printed, is passed (".": as before)
EFFECTS = [
    ("stop", "yes", "yes", "."),
    ("nostop", "no", ".", "."),
    ("print", ".", "yes", "."),
    ("noprint", "no", "no", "."),
    ("pass", ".", ".", "yes"),
    ("nopass", ".", ".", "no"),
    ("ignore", ".", ".", "no"),
    ("noignore", ".", ".", "yes"),
]


@pytest.mark.parametrize(("action", "stops", "prints", "passes"), EFFECTS, ids=[row[0] for row in EFFECTS])
def test_what_an_action_changes(action: str, stops: str, prints: str, passes: str) -> None:
    for before in itertools.product((False, True), repeat=3):
        table = SignalTable()
        row = table.rows["SIGUSR1"]
        row.stops, row.prints, row.passes = before
        assert table.change(["SIGUSR1", action])[0] == [row]
        expected = tuple(
            {"yes": True, "no": False, ".": old}[word]
            for word, old in zip((stops, prints, passes), before, strict=True)
        )
        assert (row.stops, row.prints, row.passes) == expected, before


# words, the signals that they name
NAMED = [
    ("SIGUSR1", ["SIGUSR1"]),
    ("1", ["SIGHUP"]),
    ("15", ["SIGTERM"]),
    ("13-15", ["SIGPIPE", "SIGALRM", "SIGTERM"]),
    ("15-13", ["SIGPIPE", "SIGALRM", "SIGTERM"]),
    ("SIGUSR2 SIGUSR1", ["SIGUSR1", "SIGUSR2"]),
]


@pytest.mark.parametrize(("words", "names"), NAMED)
def test_the_signals_that_words_name(words: str, names: list[str]) -> None:
    changed, _ = SignalTable().change([*words.split(), "nopass"])
    assert sorted(row.name for row in changed) == sorted(names)
