"""The arguments of a command, declared once: parsing, usage, completion and help are derived from `Arguments`.

A declaration lists options and positional arguments in the order of the usage line. A positional argument has a `Kind`,
which determines how much of the line belongs to it and what it means; the handler receives each as a keyword argument.
Options may precede and separate positional arguments, but cannot follow one that takes the rest of the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.command_options import (
    Option,
    OptionGroup,
    Reading,
    Unknown,
    find_option,
    option_table,
    read_options,
)
from rocdbg.cli.command_registry import CommandError, Completes
from rocdbg.cli.settings.setting_value_kinds import split_word
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

JUNK = "Junk at end of arguments."
IGNORED = ""
"""A value of ``junk``: excess text is ignored, as by many of GDB's commands without arguments."""


class Kind(Struct, frozen=True):
    """A type of positional arguments.

    Attributes:
        metasyntax: its placeholder in a usage line.
        gives: the Python type of the value that the handler receives, as in its annotation.
        read: converts the argument's text to that type. Raises `rocdbg.Error`.
        extent: returns how many characters at the beginning of a text belong to it. Raises `CommandError` if none can.
        completes: what completion offers.
        words: additional words that completion offers.
        keeps_blanks: whether blanks at the end belong to it.
    """

    metasyntax: str
    gives: str
    read: Callable[[Shell, str], object]
    extent: Callable[[str], int] = len
    completes: Completes = Completes.NOTHING
    words: tuple[str, ...] = ()
    keeps_blanks: bool = False


class Positional(Struct, frozen=True):
    """A positional argument; ``missing`` is the error if it is absent, or `None` if it is optional."""

    key: str
    kind: Kind
    missing: str | None
    default: object
    shown: str


def required(key: str, kind: Kind, missing: str, shown: str = "") -> Positional:
    """Declare a required argument. ``shown`` replaces the kind's metasyntax in the usage line."""
    return Positional(key, kind, missing, None, shown or kind.metasyntax)


def optional(key: str, kind: Kind, default: object = None, shown: str = "") -> Positional:
    """Declare an optional argument; if it is absent, the handler receives ``default``."""
    return Positional(key, kind, None, default, f"[{shown or kind.metasyntax}]")


Item = Option | OptionGroup | Positional


class Arguments:
    """The arguments of a command.

    Attributes:
        items: options and positional arguments, as the usage line shows them.
        options: all options, including those of groups.
        positional: all positional arguments.
        unknown: how an unknown option is treated.
        junk: the error for excess text, in which ``{}`` stands for the text; `IGNORED` for none.
        has_table: whether `help` lists the options; false if the command's own text does.
    """

    __slots__ = ("has_table", "items", "junk", "options", "positional", "unknown")

    def __init__(
        self, *items: Item, unknown: Unknown = Unknown.OPERAND, junk: str | None = None, has_table: bool = True
    ) -> None:
        options: list[Option] = []
        for item in items:
            if isinstance(item, Option):
                options.append(item)
            elif isinstance(item, OptionGroup):
                options += item.options
        self.items = items
        self.options = tuple(options)
        self.positional = tuple(item for item in items if isinstance(item, Positional))
        self.unknown = unknown
        self.junk = junk if junk is not None else JUNK if self.positional else IGNORED
        self.has_table = has_table

    def parse(self, shell: Shell, text: str) -> dict[str, object]:
        """Return the values for the handler, by parameter. Raises `rocdbg.Error`."""
        reading = Reading()
        values: dict[str, object] = {}
        for index, item in enumerate(self.positional):
            if not (index and self.unknown is Unknown.EXPRESSION):  # in `print /x -array`, array is a variable
                text = read_options(self.options, self.unknown, text, reading)
            size = item.kind.extent(text) if text else 0
            if size:
                given = text[:size] if item.kind.keeps_blanks else text[:size].rstrip()
                values[item.key] = item.kind.read(shell, given)
                text = text[size:].lstrip()
            elif item.missing is not None:
                raise CommandError(item.missing)
            else:
                values[item.key] = item.default
        if self.unknown is not Unknown.EXPRESSION:
            text = read_options(self.options, self.unknown, text, reading)
        if text and self.junk:
            raise CommandError(self.junk.replace("{}", text))
        return {**values, **self._option_values(shell, reading.values)}

    def _option_values(self, shell: Shell, given: Mapping[str, object]) -> dict[str, object]:
        values: dict[str, object] = {}
        for item in self.items:
            if isinstance(item, Option):
                values[item.parameter] = given.get(item.parameter, item.default)
            elif isinstance(item, OptionGroup):
                keys = {option.parameter for option in item.options}
                values[item.key] = item.build(shell, {key: given[key] for key in given if key in keys})
        return values

    def parameters(self) -> dict[str, str]:
        """Return the parameters that the handler must have, with their types."""
        found = {}
        for item in self.items:
            if isinstance(item, Positional):
                may_be_none = item.missing is None and item.default is None
                found[item.key] = f"{item.kind.gives} | None" if may_be_none else item.kind.gives
            elif isinstance(item, OptionGroup):
                found[item.key] = item.gives
            else:
                found[item.parameter] = item.gives
        return found

    # -- derived information

    def usage(self, name: str) -> str:
        """Return the usage line of a command of this name."""
        parts = [name]
        previous = None
        for item in self.items:
            key = item.parameter if isinstance(item, Option) else None
            shown = f"[{item.shown}]" if isinstance(item, Option) else item.shown
            if key is not None and key == previous:  # alternatives: each excludes the other
                parts[-1] = f"{parts[-1][:-1]}|{shown[1:]}"
            else:
                parts.append(shown)
            previous = key
        return " ".join(parts)

    def table(self) -> list[str]:
        """Return the lines of the option table."""
        return option_table(self.options) if self.has_table else []

    @property
    def completes(self) -> Completes:
        """The completion of the first positional argument that has one."""
        kinds = (item.kind.completes for item in self.positional)
        return next((kind for kind in kinds if kind is not Completes.NOTHING), Completes.NOTHING)

    def candidates(self, text: str) -> Iterator[Candidate]:
        """Yield what may occur at the end of a text: options, values of options, positional arguments."""
        try:
            yield from self._candidates(text, len(text))
        except Error:
            return  # there is an error before the end of the text

    def _candidates(self, text: str, whole: int) -> Iterator[Candidate]:
        options = self.options
        for item in (*self.positional, None):
            while options:
                word, rest = _first(text)
                if not rest:  # the cursor is in this word
                    dashed = word.startswith("-")
                    names = (option.name if dashed else option.word for option in options)
                    yield Candidate(whole - len(word), words=tuple(filter(None, names)))
                    break
                if word == "--":
                    options, text = (), rest.lstrip()
                    break
                option = find_option(options, Unknown.OPERAND, text, delimited=False)
                if option is None:
                    break
                text = rest.lstrip()
                if option.kind is None:
                    continue
                word, rest = _first(text)
                if not rest:
                    yield Candidate(whole - len(word), option.kind.completes, option.kind.words)
                    if not option.kind.may_be_left_out:
                        return
                    continue
                text = option.kind.take(option.name, text, delimited=False)[1]
            if item is None:
                return
            if self.unknown is Unknown.EXPRESSION:
                options = ()
            size = item.kind.extent(text) if text else 0
            if size < len(text):  # the argument is complete, or absent
                if not size and item.kind.words:
                    yield Candidate(whole - len(text), words=item.kind.words)
                text = text[size:].lstrip()
                continue
            yield Candidate(whole - len(text), item.kind.completes, item.kind.words)
            if text or item.missing is not None:
                return


class Candidate(Struct, frozen=True):
    """Where the text to be completed starts, the kind of its completion, and words that are valid there."""

    start: int
    completes: Completes = Completes.NOTHING
    words: tuple[str, ...] = ()


def _first(text: str) -> tuple[str, str]:
    """Return the first word, and the rest with its leading blanks."""
    word = split_word(text)[0]
    return word, text[len(word) :]
