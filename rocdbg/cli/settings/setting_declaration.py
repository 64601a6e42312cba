"""Declaration of a setting: its name, type and help, where its value is stored, and its `show` text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.cli.command_registry import Category
from rocdbg.cli.settings.setting_value_kinds import ValueKind

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


class Place(Struct, frozen=True):
    """A place where a value is stored; ``field`` is the value's name there."""

    field: str
    read: Callable[[Shell], object]
    write: Callable[[Shell, object], None]


def of_print(field: str) -> Place:
    """Return the place of a field of `PrintSettings`."""

    def read(shell: Shell) -> object:
        return getattr(shell.session.settings.print, field)

    def write(shell: Shell, value: object) -> None:
        settings = shell.session.settings
        settings.print = settings.print.with_changes(**{field: value})

    return Place(field, read, write)


def of_engine(field: str) -> Place:
    """Return the place of a field of `Settings`."""
    return Place(
        field, lambda shell: getattr(shell.session.settings, field),
        lambda shell, value: setattr(shell.session.settings, field, value),
    )


def of_launch(field: str) -> Place:
    """Return the place of a property of the next launch."""
    return Place(
        field, lambda shell: getattr(shell.session.launch, field),
        lambda shell, value: setattr(shell.session.launch, field, value),
    )


def of_program(field: str) -> Place:
    """Return the place of a property of the next run of a whole program."""
    return Place(
        field, lambda shell: getattr(shell.session.program_launch, field),
        lambda shell, value: setattr(shell.session.program_launch, field, value),
    )


def of_front_end(field: str, default: object) -> Place:
    """Return the place of an entry of `Shell.settings`."""
    return Place(
        field, lambda shell: shell.settings.get(field, default),
        lambda shell, value: shell.settings.__setitem__(field, value),
    )


class Setting(Struct, frozen=True):
    """One setting, for ``set NAME VALUE``, ``show NAME`` and their help.

    Attributes:
        name: its words (``print elements``).
        kind: the type of its values.
        what: its subject: ``help`` says ``Set WHAT.``, ``show`` says ``WHAT is VALUE.``
        sentence: another sentence for ``show``, in which ``{}`` stands for the value.
        place: where its value is stored.
        set_help, show_help: other help texts, in place of those derived from ``what``.
        line: computes another line for ``show``.
        after: called after a change.
        announcement: returns what `set` prints after a change.
        option_of: the commands that also accept it as an option: "print" (expressions) or "frame" (frame lines).
    """

    name: str
    kind: ValueKind
    what: str
    place: Place
    category: Category = Category.SUPPORT
    sentence: str = ""
    set_help: str = ""
    show_help: str = ""
    line: Callable[[Shell], str] | None = None
    after: Callable[[Shell], None] | None = None
    announcement: Callable[[Shell], str] | None = None
    option_of: str = ""

    def change(self, shell: Shell, text: str) -> None:
        """``set NAME TEXT``. Raises `CommandError`."""
        self.put(shell, self.value(shell, text))
        if self.announcement is not None:
            shell.line(self.announcement(shell))

    def value(self, shell: Shell, text: str) -> object:
        """Return the value of ``set NAME TEXT``. Raises `Error`."""
        return self.kind.evaluated(text, lambda expression: int(shell.session.data.integer(expression)))

    def put(self, shell: Shell, value: object) -> None:
        """Store a value."""
        self.place.write(shell, value)
        if self.after is not None:
            self.after(shell)

    def shown(self, shell: Shell) -> str:
        """Return the line of ``show NAME``."""
        if self.line is not None:
            return self.line(shell)
        value = self.kind.show(self.place.read(shell))
        if self.sentence:
            return self.sentence.replace("{}", value)
        if self.kind.is_quoted:
            value = f'"{value}"'
        return f"{self.what[0].upper()}{self.what[1:]} is {value}."
