"""`set` and `show`: commands for every declared setting, those that are not settings, and `with`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import EXPRESSION, TEXT, WORD, text_of, words_of
from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Completes, Registry, command
from rocdbg.cli.commands.print_and_set import assign
from rocdbg.cli.paths import search_folder
from rocdbg.cli.settings.all_settings import SETTINGS
from rocdbg.cli.settings.setting_declaration import Setting
from rocdbg.cli.settings.setting_value_kinds import String
from rocdbg.cli.settings.source_settings import directories_line

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT
OTHER_NAMES = (
    ("set architecture", "set processor"),
    ("show architecture", "show processor"),
    ("set check", "set c"),
    ("set check", "set ch"),
    ("show check", "show c"),
    ("show check", "show ch"),
    ("set gnutarget", "set g"),
    ("set record", "set rec"),
    ("show record", "show rec"),
    ("set style address", "set style disassembler address"),
    ("show style address", "show style disassembler address"),
    ("set style function", "set style disassembler symbol"),
    ("show style function", "show style disassembler symbol"),
    ("set sysroot", "set solib-absolute-prefix"),
    ("show sysroot", "show solib-absolute-prefix"),
)
"""Settings and prefixes, and GDB's other names for them."""


def add_settings(registry: Registry) -> None:
    """Add `set NAME` and `show NAME` for every setting, rarely used ones when `set` or `show` is first typed."""
    for setting in SETTINGS:
        _add_setting(registry, setting)
    for word in ("set", "show"):
        for short in ("p", "pr"):
            registry.add_alias((word, short), registry.node([word, "print"])[1], (word, "print"))
    registry.add_late(("set", "show", "info", "unset"), lambda: _add_late_settings(registry))


def _add_setting(registry: Registry, setting: Setting) -> None:
    registry.add(_set_command(setting))
    registry.add(_show_command(setting))


def _add_late_settings(registry: Registry) -> None:
    from rocdbg.cli.settings.refused_settings import add_settings_away
    from rocdbg.cli.settings.settings_without_effect import settings_without_effect
    from rocdbg.cli.settings.style_settings import style_settings

    for setting in (*style_settings(), *settings_without_effect()):
        if not registry.has_spec(f"set {setting.name}"):  # some are commands
            _add_setting(registry, setting)
    add_settings_away(registry)
    registry.add_alias(("info", "set"), registry.node(["show"])[1])
    for name, other in OTHER_NAMES:
        if registry.has(name):
            registry.add_alias(tuple(other.split()), registry.node(name.split())[1], tuple(name.split()))


def _set_command(setting: Setting) -> CommandSpec:
    value = Kind(
        setting.kind.metasyntax, "object", lambda shell, text: setting.kind.parse(text),
        completes=setting.kind.completes, words=setting.kind.words,
    )
    return CommandSpec(
        ("set", *setting.name.split()), setting.change, setting.category,
        setting.set_help or f"Set {setting.what}.", usage=f"set {setting.name} {setting.kind.metasyntax}",
        completes=setting.kind.completes, arguments=Arguments(optional("value", value)), setting=setting,
        keeps_blanks=type(setting.kind) is String,
    )


def _show_command(setting: Setting) -> CommandSpec:
    def handler(shell: Shell, text: str) -> None:
        shell.line(setting.shown(shell))

    return CommandSpec(
        ("show", *setting.name.split()), handler, setting.category, setting.show_help or f"Show {setting.what}.",
        usage=f"show {setting.name}", arguments=Arguments(), setting=setting,
    )


def _relaunch(shell: Shell) -> None:
    """Run the previous command, which is then the one that an empty line repeats."""
    previous, shell.state.previous = shell.state.previous, None
    if previous is None:
        raise CommandError("No previous command to relaunch")
    shell.state.last = previous
    shell.run_line(shell.joined(*previous))


@command(
    "with", category=Category.DATA, aliases=("w",), usage="with SETTING [VALUE] [-- COMMAND]",
    args=Arguments(required("text", text_of("SETTING [VALUE] [-- COMMAND]", Completes.SETTING), "Missing arguments.")),
)
def with_(shell: Shell, text: str) -> None:
    """Temporarily set SETTING to VALUE, run COMMAND, and restore SETTING.

    Without COMMAND the last command is repeated.
    """
    change, _, line = text.partition("--")
    if not change.strip():
        raise CommandError("Missing setting before '--' delimiter")
    try:
        found = shell.registry.find(f"set {change}")
    except CommandError:
        shell.registry.find(f"set {text}")  # GDB quotes the line to its end
        raise
    setting = found.spec.setting
    if setting is None:
        if found.spec.words == ("set",):
            raise CommandError(f'Undefined set command: "{change.split()[0]}".  Try "help set".')
        raise CommandError('Cannot use this setting with the "with" command')
    old = setting.place.read(shell)
    setting.put(shell, setting.value(shell, found.text))
    try:
        if line.strip():
            shell.run_line(line.strip())
        else:
            _relaunch(shell)
    finally:
        setting.put(shell, old)


def _logging(shell: Shell, word: str) -> None:
    shell.line(
        f"Warning: 'set logging {word}', an alias for the command 'set logging enabled', is deprecated.\n"
        f"Use 'set logging enabled {word}'.\n"
    )
    shell.run_line(f"set logging enabled {word}")


@command("set logging on", category=SUPPORT, args=Arguments(), hidden=True)
def set_logging_on(shell: Shell) -> None:
    """Enable logging: the older form of "set logging enabled on"."""
    _logging(shell, "on")


@command("set logging off", category=SUPPORT, args=Arguments(), hidden=True)
def set_logging_off(shell: Shell) -> None:
    """Disable logging: the older form of "set logging enabled off"."""
    _logging(shell, "off")


@command(
    "set", category=Category.DATA,
    args=Arguments(required("expression", EXPRESSION, "Argument required (expression to compute).")),
)
def set_(shell: Shell, expression: str) -> None:
    """Evaluate expression EXP and assign result to variable VAR.

    It may also change a setting.

    If the first word is the name of a setting, the setting is changed; otherwise the line is an assignment, as with
    "set var".
    """
    assign(shell, expression)


@command(
    "directory", category=Category.FILES, aliases=("dir",),
    args=Arguments(optional("folders", words_of("DIR...", Completes.FILE))),
)
def directory(shell: Shell, folders: list[str] | None) -> None:
    """Add directory DIR to beginning of search path for source files.

    $cdir is the directory of the compilation, $cwd the current one. With no argument, reset the search path.
    """
    settings = shell.session.settings
    if folders:
        new = [search_folder(shell, part) for word in folders for part in word.split(":") if part]
        settings.directories = [*new, *(old for old in settings.directories if old not in new)]
    elif shell.confirm("Reinitialize source path to $cdir:$cwd?"):
        settings.directories = ["$cdir", "$cwd"]
    shell.session.sources.forget()
    if shell.at_prompt:
        shell.line(directories_line(shell))


@command(
    "set substitute-path", category=Category.FILES,
    args=Arguments(
        required("old", WORD, "Incorrect usage, too few arguments in command", "FROM"),
        required("new", WORD, "Incorrect usage, too few arguments in command", "TO"),
        junk="Incorrect usage, too many arguments in command",
    ),
)
def set_substitute_path(shell: Shell, old: str, new: str) -> None:
    """Add a substitution rule to rewrite the source directories.

    A source file whose name starts with directory FROM is searched for below directory TO instead.
    """
    rules = shell.session.settings.substitute_path
    rules[:] = [rule for rule in rules if rule[0] != old]
    rules.append((old, new))
    shell.session.sources.forget()


@command("unset substitute-path", category=Category.FILES, args=Arguments(optional("old", TEXT, "", "FROM")))
def unset_substitute_path(shell: Shell, old: str) -> None:
    """Delete one or all substitution rules rewriting the source directories."""
    rules = shell.session.settings.substitute_path
    if old and not any(rule[0] == old for rule in rules):
        raise CommandError(f"No substitution rule defined for `{old}'")
    rules[:] = [rule for rule in rules if old and rule[0] != old]
    shell.session.sources.forget()


@command(
    "show substitute-path", category=Category.FILES,
    args=Arguments(optional("path", text_of("PATH", Completes.FILE), "")),
)
def show_substitute_path(shell: Shell, path: str) -> None:
    """Show one or all substitution rules rewriting the source directories.

    With PATH, only the rule that rewrites it.
    """
    if path:
        shell.line(f"Source path substitution rule matching `{path}':")
    else:
        shell.line("List of all source path substitution rules:")
    for old, new in shell.session.settings.substitute_path:
        if not path or path == old or path.startswith(old.rstrip("/") + "/"):
            shell.line(f"  `{old}' -> `{new}'.")
