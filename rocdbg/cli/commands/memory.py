"""Commands about ranges of memory: find, dump, append, restore."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Completes, Registry, Repeat, command
from rocdbg.cli.paths import expand
from rocdbg.cli.settings.setting_value_kinds import split_word
from rocdbg.debugger.expr.parsing.parser import followed_by, followers, split_arguments
from rocdbg.debugger.expr.value_access import place_of
from rocdbg.debugger.reports.memory_files import (
    address_operand,
    dumped_memory,
    dumped_value,
    encoded,
    read_file,
    restored,
    write_file,
    write_memory,
)
from rocdbg.debugger.reports.memory_search import SearchSpace, matches
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Address

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

DATA = Category.DATA
ALL = (1 << 64) - 1
SIZES = {"b": 1, "h": 2, "w": 4, "g": 8}
LIMITS = re.compile(r"/(\S*)\s*")
MISSING = re.compile(r"(?:^|,)\s*(,.*)$")
"""An empty operand."""
SEARCH = text_of("START, END|+LENGTH, EXPRESSION, ...", Completes.EXPRESSION)


@command(
    "find", category=DATA, args=Arguments(optional("text", SEARCH, "")), repeat=Repeat.NEVER,
    usage="find [/COUNT SIZE] START, END|+LENGTH, EXPRESSION, ...",
)
def find(shell: Shell, text: str) -> None:
    """Search memory for a sequence of bytes.

    The bytes are those of the expressions' values, one after the other: "hello" includes its null, {char[5]}"hello"
    does not. After the slash come the maximum number of matches and the size of numbers: b byte, h halfword, w word, g
    giant; by default, numbers have their type's size. The range ends at END (inclusive), or has LENGTH bytes. START may
    be in any address space (local#0x10). Afterwards $_ is the last match, and $numfound the number of matches.
    """
    if not text:
        raise CommandError("Missing search parameters.")
    most, size, text = _limits(text)
    operands = split_arguments(text)
    missing = MISSING.search(text)
    if missing is not None:
        raise CommandError(f"A syntax error in expression, near `{missing[1]}'.")
    rests = followers(text)
    with followed_by(rests[0]):
        start = _place(shell, operands[0])
    if len(operands) < 2 or operands[1:] == [""]:
        raise CommandError("Argument required (expression to compute).")
    with followed_by(rests[1]):
        length = _length(shell, start, operands[1])
    if not length:
        shell.line("Empty search range.")
    elif len(operands) < 3 or operands[2:] == [""]:
        raise CommandError("Missing search pattern.")
    if operands[-1] == "":
        operands.pop()  # a comma may end the list
    pattern = b"" if length else b"\0"
    for operand, rest in zip(operands[2:] if length else (), rests[2:], strict=False):
        with followed_by(rest):
            pattern += _bytes(shell, operand, size)
    if not pattern:
        raise CommandError("Empty search pattern.")
    if length < len(pattern) and length:
        raise CommandError("Search space too small to contain pattern.")
    session = shell.session
    found = 0
    space = SearchSpace(start, length)
    memory = session.data.environment().memory
    formatter = session.data.formatter()
    if most:
        for address in matches(memory, space, pattern, shell.warn):
            found += 1
            shell.line(formatter.address(start.space, address, symbol=True))
            pointer = c_types.pointer_to(c_types.VOID, start.space)
            session.convenience.set("_", Value.of_int(pointer, address))
            if found == most:
                break
    session.convenience.set_int("numfound", found)
    shell.line("Pattern not found." if not found else f"{found} pattern{'s' if found > 1 else ''} found.")


def _limits(text: str) -> tuple[int, str, str]:
    """The maximum number of matches (-1: any number), the size letter, and the rest after ``/3w``."""
    match = LIMITS.match(text)
    if match is None:
        return -1, "", text
    counts = re.findall(r"\d+", match[1])
    letters = re.sub(r"\d", "", match[1])
    if any(letter not in SIZES for letter in letters):
        raise CommandError("Invalid size granularity.")
    most = min(int(counts[-1][:20]), ALL) if counts else -1
    rest = text[match.end() :]
    if not rest:
        raise CommandError("Argument required (expression to compute).")
    return most, letters[-1:], rest


def _place(shell: Shell, expression: str) -> Address:
    return place_of(shell.session.data.evaluate(expression), shell.session.data.environment())


def _length(shell: Shell, start: Address, operand: str) -> int:
    if operand.startswith("+"):
        return shell.session.data.integer(operand[1:]) & ALL
    end = _place(shell, operand).value
    if start.value > end:
        raise CommandError("Invalid search space, end precedes start.")
    if start.value == 0 and end == ALL:
        raise CommandError("Overflow in address range computation, choose smaller range.")
    return end - start.value + 1


def _bytes(shell: Shell, operand: str, size: str) -> bytes:
    if not size:
        return shell.session.data.evaluate(operand).contents()
    width = SIZES[size]
    return (shell.session.data.integer(operand) & ((1 << 8 * width) - 1)).to_bytes(width, "little")


# -- dump and append

FORMATS = {
    "": "a raw binary",
    "binary": "a raw binary",
    "ihex": "an ihex",
    "srec": "an srec",
    "verilog": "a verilog hex",
    "npy": "a NumPy array",
}
SUMMARY = {
    "value": "Write the value of an expression to {} file.",
    "memory": "Write contents of memory to {} file.",
}
DETAILS = {
    "value": "The file is created or replaced.",
    "memory": "START is included, STOP is not. The file is created or replaced.",
}
REFUSED = {"tekhex": "a tekhex"}


def _written(format_: str, what: str, append: bool) -> Callable[[Shell, str], None]:
    """The handler of ``dump FORMAT value`` and similar commands."""

    def handler(shell: Shell, text: str) -> None:
        name, rest = split_word(text)
        if not name:
            raise CommandError("Missing filename.")
        data = shell.session.data
        if what == "value":
            if not rest:
                raise CommandError(f"No value to {'append' if append else 'dump'}.")
            has_addresses = format_ in ("ihex", "srec", "verilog")
            found = dumped_value(data, rest, shell.warn if has_addresses else lambda _text: None)
        else:
            start, stop = split_word(rest)
            if not start:
                raise CommandError("Missing start address.")
            if not stop:
                raise CommandError("Missing stop address.")
            found = dumped_memory(data, start, stop)
        write_file(expand(name), encoded(found, format_, name), append)

    return handler


def _refused(format_: str) -> Callable[[Shell, str], None]:
    def handler(shell: Shell, text: str) -> None:
        raise CommandError(f"Files in {format_} format cannot be written: use ihex, srec, verilog, npy or binary.")

    return handler


def add_dumps(registry: Registry) -> None:
    """Declare ``dump``, ``append`` and everything below them."""
    for verb, formats in (("dump", tuple(FORMATS)), ("append", ("", "binary"))):
        for format_ in formats:
            for what, summary in SUMMARY.items():
                text = summary.format(FORMATS[format_])
                details = DETAILS[what]
                if verb == "append":
                    text = text.replace("Write", "Append")
                    details = details.replace("created or replaced", "created if it does not exist")
                operands = "EXPRESSION" if what == "value" else "START STOP"
                words = (verb, *([format_] if format_ else []), what)
                _add(registry, words, _written(format_, what, verb == "append"), f"{text}\n\n{details}", operands)
    for format_, kind in REFUSED.items():
        for what, summary in SUMMARY.items():
            text = f"{summary.format(kind)}\n\nThis format is not supported: use ihex, srec, verilog, npy or binary."
            _add(registry, ("dump", format_, what), _refused(format_), text, "...")


def _add(
    registry: Registry, words: tuple[str, ...], handler: Callable[[Shell, str], None], text: str, operands: str
) -> None:
    handler.__doc__ = text
    operand = optional("text", text_of(f"FILE {operands}", Completes.FILE), "")
    usage = " ".join([*words, "FILE", operands])
    declare = command(" ".join(words), category=DATA, args=Arguments(operand), usage=usage, repeat=Repeat.NEVER)
    spec: CommandSpec = declare(handler).command_spec  # type: ignore[attr-defined]
    registry.add(replace(spec, hidden=words[1] in REFUSED))


@command(
    "restore", category=DATA, usage="restore FILE [binary] [OFFSET [START [STOP]]]", repeat=Repeat.NEVER,
    args=Arguments(optional("text", text_of("FILE [binary] [OFFSET [START [STOP]]]", Completes.FILE), "")),
)
def restore(shell: Shell, text: str) -> None:
    """Restore the contents of FILE to target memory.

    Intel HEX and S-records go to the addresses that they name, plus OFFSET; START and STOP are then addresses, and
    records outside them are skipped. With "binary", and for a NumPy array (.npy), the bytes go to OFFSET, an address in
    any space, and START and STOP count bytes in the file.
    """
    if not shell.session.inferior.running:
        raise CommandError("You can't do that without a process to debug.")
    name, rest = split_word(text)
    if not name:
        raise CommandError("Missing filename.")
    data = shell.session.data
    word, after = split_word(rest)
    binary = word == "binary"
    if binary:
        rest = after
    first, rest = split_word(rest)
    offset = address_operand(data, first) if first else Address(0, 0)
    first, last = split_word(rest)
    start = data.integer(first) & ALL if first else None
    stop = data.integer(last) & ALL if last else None
    if start is not None and stop and start >= stop:
        raise CommandError("Start must be less than end.")
    contents = read_file(expand(name), "" if binary else ".")
    for part in restored(contents, name, binary, offset.value, start, stop):
        shell.line(part.sentence)
        if part.data:
            write_memory(data, offset.space, part, shell.warn)
