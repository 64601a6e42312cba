"""Commands about functions that `step` does not enter: skip, skip file, skip function, skip delete, info skip."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.breakpoint_numbers import numbers_of
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.debugger.base.patterns import PatternError, compile_pattern
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.running.skip_list import Skip

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

BREAKPOINTS = Category.BREAKPOINTS
OPTIONS = {"-fi": "-file", "-gfi": "-gfile", "-fu": "-function", "-rfu": "-rfunction"}
NUMBERS = Arguments(optional("numbers", text_of("N..."), ""))


def _function(shell: Shell, name: str) -> str:
    """A name, by default that of the selected frame's function."""
    if name:
        return name
    running = shell.session.inferior.running
    function = shell.session.focus.frame().function if running else None
    if function is None:
        raise CommandError("No default function now.")
    return Program.function_title(function)


def _add(shell: Shell, skip: Skip) -> None:
    shell.session.skips.add(skip)
    function = f"Function{'(s)' if skip.expression else ''} {skip.function}" if skip.function is not None else ""
    file = f"{'f' if function else 'F'}ile{'(s)' if skip.is_glob else ''} {skip.file}" if skip.file is not None else ""
    shell.line(f"{' in '.join(filter(None, (function, file)))} will be skipped when stepping.")


@command(
    "skip", category=BREAKPOINTS,
    usage="skip [FUNCTION | -file FILE | -gfile GLOB | -function NAME | -rfunction REGEXP]...",
    args=Arguments(optional("text", text_of("FUNCTION", Completes.SYMBOL), "")),
)
def skip(shell: Shell, text: str) -> None:
    """Ignore a function while stepping.

    The default is the selected frame's function. -file FILE and -gfile GLOB-PATTERN select skipped functions by file,
    -function NAME and -rfunction REGEXP by name; both may be given.
    """
    if not text.startswith("-"):
        _add(shell, Skip(0, function=_function(shell, text)))
        return
    given: dict[str, str] = {}
    words = text.split()
    while words:
        word = words.pop(0)
        name = OPTIONS.get(word, word)
        if name not in OPTIONS.values():
            raise CommandError(f"Invalid skip option: {word}" if word.startswith("-") else f"Invalid argument: {word}")
        if not words:
            raise CommandError(f"Missing value for {word} option.")
        given[name] = words.pop(0)
    for one, other in (("-file", "-gfile"), ("-function", "-rfunction")):
        if one in given and other in given:
            raise CommandError(f"Cannot specify both {one} and {other}.")
    expression = None
    if "-rfunction" in given:
        try:
            expression = compile_pattern(given["-rfunction"])
        except PatternError as error:
            raise CommandError(f"regexp: {str(error).removeprefix('Invalid regexp: ')}") from None
    _add(
        shell,
        Skip(
            0, given.get("-file") or given.get("-gfile"), "-gfile" in given,
            given.get("-function") or given.get("-rfunction"), expression,
        ),
    )


@command("skip function", category=BREAKPOINTS, args=Arguments(optional("name", text_of("NAME", Completes.SYMBOL), "")))
def skip_function(shell: Shell, name: str) -> None:
    """Ignore a function while stepping.

    The default is that of the selected frame.
    """
    _add(shell, Skip(0, function=_function(shell, name)))


@command("skip file", category=BREAKPOINTS, args=Arguments(optional("name", text_of("FILE", Completes.LOCATION), "")))
def skip_file(shell: Shell, name: str) -> None:
    """Ignore a file while stepping.

    The default is that of the selected frame.
    """
    if not name:
        frame = shell.session.focus.frame() if shell.session.inferior.running else None
        if frame is None or frame.file is None:
            raise CommandError("No default file now.")
        name = frame.file.path
    _add(shell, Skip(0, name))


def _chosen(shell: Shell, numbers: str, complain: bool = True) -> list[Skip]:
    """The named ones, or all; there must be at least one if ``complain``. Raises `CommandError`."""
    skips = list(shell.session.skips)
    if not numbers and (skips or not complain):
        return skips
    wanted = _numbers(shell, numbers) if skips else set()  # they are unused without it
    found = [skip for skip in skips if skip.number in wanted]
    if not found:
        raise CommandError(f"No skiplist entries found with number {numbers or '(null)'}.")
    return found


def _numbers(shell: Shell, text: str) -> set[int]:
    if not re.match(r"-?[\d$]", text):
        raise CommandError("Arguments must be numbers or '$' variables.")
    numbers = set(numbers_of(shell, text))
    if 0 in numbers:
        raise CommandError("Arguments must be numbers or '$' variables.")
    return numbers


@command("skip delete", category=BREAKPOINTS, args=NUMBERS)
def skip_delete(shell: Shell, numbers: str) -> None:
    """Delete skip entries.

    Without numbers, all entries.
    """
    shell.session.skips.delete([skip.number for skip in _chosen(shell, numbers)])


@command("skip enable", category=BREAKPOINTS, args=NUMBERS)
def skip_enable(shell: Shell, numbers: str) -> None:
    """Enable skip entries.

    Without numbers, all entries.
    """
    for skip in _chosen(shell, numbers):
        skip.enabled = True


@command("skip disable", category=BREAKPOINTS, args=NUMBERS)
def skip_disable(shell: Shell, numbers: str) -> None:
    """Disable skip entries.

    Without numbers, all entries.
    """
    for skip in _chosen(shell, numbers):
        skip.enabled = False


@command("info skip", category=Category.STATUS, args=NUMBERS)
def info_skip(shell: Shell, numbers: str) -> None:
    """Display the status of skips.

    It shows whether they are enabled, and which files and functions they skip.
    """
    try:
        skips = _chosen(shell, numbers, complain=False)
    except CommandError as error:
        if not str(error).startswith("No skiplist"):
            raise
        shell.line(str(error))
        return
    if not skips:
        shell.line("Not skipping any files or functions.")
        return
    shell.line("Num   Enb Glob File                 RE Function")
    for row in skips:
        enabled, glob = "y" if row.enabled else "n", "y" if row.is_glob else "n"
        expression = "y" if row.expression is not None else "n"
        function = row.function if row.function is not None else "<none>"
        file = row.file if row.file is not None else "<none>"
        shell.line(f"{row.number:<5} {enabled:<3} {glob:>4} {file:<20} {expression:>2} {function}")
