"""Commands about the preprocessor's macros: info macro, info macros, macro define, expand, list, undef."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.debugger.expr.parsing.macro_expansion import expand
from rocdbg.debugger.expr.parsing.macro_scope import Macro, MacroScope, head, macros_at, shown

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

STATUS, SUPPORT = Category.STATUS, Category.SUPPORT
NAME = re.compile(r"[A-Za-z_]\w*")


@command(
    "info macro", category=STATUS,
    args=Arguments(
        Option("-all", "All definitions, wherever they are.", bare=True), optional("name", text_of("MACRO"), ""),
    ),
)
def info_macro(shell: Shell, all: bool, name: str) -> None:
    """Show the definition of MACRO, and it's source location.

    Compilers keep macros with -g3 or -fdebug-macro. With -all every definition in the file is shown, otherwise the one
    in force at the selected frame's line.
    """
    if not name:
        raise CommandError("You must follow the `info macro' command with the name of the macro\n"
                           "whose definition you want to see.")
    scope = _scope(shell)
    main = None if scope.unit is None else next(iter(scope.unit.files), None)
    if not scope.has_macros and name in shell.session.data.user_macros:
        own = shell.session.data.user_macros[name]
        shell.line(f"Defined at <user-defined>:-1\n#define {head(own)} {own.replacement}")
        return
    if all:
        for macro in scope.all_of(name):
            _write(shell, shown(macro, main))
        return
    found = scope.of_program(name)
    if found is None:
        where = "<user-defined>:-1"
        if scope.file is not None and scope.has_macros:
            where = f"{scope.file.path}:{scope.line}"
        shell.line(f"The symbol `{name}' has no definition as a C/C++ preprocessor macro\nat {where}")
        return
    if found.place is None and scope.file is not None:
        shell.line(f"Defined at {scope.file.path}:-1")
    _write(shell, shown(found, main))


def _scope(shell: Shell) -> MacroScope:
    return macros_at(shell.session.data.environment())


def _write(shell: Shell, lines: list[str]) -> None:
    for line in lines:
        shell.line(line)


@command(
    "info macros", category=STATUS,
    args=Arguments(optional("location", text_of("LOCATION", Completes.LOCATION), "")),
)
def info_macros(shell: Shell, location: str) -> None:
    """Show the definitions of all macros at LINESPEC, or the current source location."""
    session = shell.session
    scope = _scope(shell)
    if location:
        place = session.places.resolve(location)[0]
        function = None if place.address is None else session.inferior.need_program().function_at(place.address)
        scope = MacroScope(None if function is None else function.unit, place.file, place.line, {})
    elif not scope.has_macros:
        return  # as GDB, which then looks among the user's own
    if not scope.has_macros:
        shell.line("rocdbg has no preprocessor macro information for that code.")
        return
    main = None if scope.unit is None else next(iter(scope.unit.files), None)
    for _, macro in sorted(scope.defined.items()):
        _write(shell, shown(macro, main))


@command(
    "macro expand", category=SUPPORT, aliases=("macro exp",),
    args=Arguments(optional("expression", text_of("EXPRESSION", Completes.EXPRESSION), ""), unknown=Unknown.EXPRESSION),
)
def macro_expand(shell: Shell, expression: str) -> None:
    """Fully expand any C/C++ preprocessor macro invocations in EXPRESSION.

    Show the expanded expression. Macros are those at the selected frame's line, and those of "macro define".
    """
    if not expression:
        raise CommandError("You must follow the `macro expand' command with the expression you\nwant to expand.")
    shell.line(f"expands to: {expand(expression, _scope(shell).find)}")


@command(
    "macro expand-once", category=SUPPORT, aliases=("macro exp1",),
    args=Arguments(optional("expression", text_of("EXPRESSION", Completes.EXPRESSION), ""), unknown=Unknown.EXPRESSION),
)
def macro_expand_once(shell: Shell, expression: str) -> None:
    """Expand C/C++ preprocessor macro invocations appearing directly in EXPRESSION.

    As in GDB, this is not implemented: "macro expand" expands them fully.
    """
    if not expression:
        raise CommandError("You must follow the `macro expand-once' command with the expression\nyou want to expand.")
    raise CommandError("Expand-once not implemented yet.")


@command(
    "macro define", category=SUPPORT, args=Arguments(optional("definition", text_of("NAME[(ARGUMENTS)] TEXT"), "")),
)
def macro_define(shell: Shell, definition: str) -> None:
    """Define a new C/C++ preprocessor macro.

    Expressions use it everywhere in the program, in preference to the program's own macro of that name.
    """
    if not definition:
        raise CommandError("usage: macro define NAME[(ARGUMENT-LIST)] [REPLACEMENT-LIST]")
    name = _name(definition)
    rest = definition[len(name) :]
    parameters = None
    if rest.startswith("("):
        listed, bracket, rest = rest[1:].partition(")")
        if not bracket:
            raise CommandError("',' or ')' expected at end of macro arguments.")
        parameters = tuple(part.strip() for part in listed.split(",")) if listed.strip() else ()
        for parameter in parameters:
            if not re.fullmatch(r"[A-Za-z_]\w*(\.\.\.)?|\.\.\.", parameter):
                raise CommandError("Macro is missing an argument.")
        if len(set(parameters)) < len(parameters):
            raise CommandError("Two macro arguments with identical names.")
    shell.session.data.user_macros[name] = Macro(name, parameters, rest.strip())


@command("macro undef", category=SUPPORT, args=Arguments(optional("name", text_of("NAME"), "")))
def macro_undef(shell: Shell, name: str) -> None:
    """Remove the definition of the C/C++ preprocessor macro with the given name.

    The macro must have been defined with "macro define".
    """
    if not name:
        raise CommandError("usage: macro undef NAME")
    shell.session.data.user_macros.pop(_name(name), None)


@command("macro list", category=SUPPORT, args=Arguments())
def macro_list(shell: Shell) -> None:
    """List all the macros defined using the `macro define' command."""
    for _, macro in sorted(shell.session.data.user_macros.items()):
        shell.line(f"macro define {head(macro)} {macro.replacement}")


def _name(text: str) -> str:
    match = NAME.match(text)
    if match is None:
        raise CommandError("Invalid macro name.")
    return match[0]
