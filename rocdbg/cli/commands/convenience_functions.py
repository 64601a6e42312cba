"""`help function`: documentation of the convenience functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_registry import Category, CommandSpec, Completes, Registry, Repeat

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

_NUMBER = "NUMBER selects the frame: 0 is the selected one, 1 (the default) its caller."
_UP_TO = "NUMBER is how many frames outside the selected one are checked: 1 by default, 0 for none."
FUNCTIONS = {
    "_any_caller_is": (
        "(NAME [, NUMBER])", "Check all calling function's names.",
        f"Returns 1 if one of them is NAME, else 0. {_UP_TO}",
    ),
    "_any_caller_matches": (
        "(REGEX [, NUMBER])", "Compare all calling function's names with a regexp.",
        f"Returns 1 if the beginning of one of the names matches, else 0. {_UP_TO}",
    ),
    "_as_string": (
        "(VALUE)", "Return the string representation of a value.",
        "Returns the name of an enumerator, or a number as text.",
    ),
    "_caller_is": (
        "(NAME [, NUMBER])", "Check the calling function's name.", f"Returns 1 if it is NAME, else 0. {_NUMBER}"
    ),
    "_caller_matches": (
        "(REGEX [, NUMBER])", "Compare the calling function's name with a regexp.",
        f"Returns 1 if the beginning of the name matches, else 0. {_NUMBER}",
    ),
    "_cimag": ("(VALUE)", "Extract the imaginary part of a complex number.", "The result has the type of that part."),
    "_creal": ("(VALUE)", "Extract the real part of a complex number.", "The result has the type of that part."),
    "_gdb_setting": (
        "(NAME)", "$_gdb_setting - returns the value of a rocdbg setting.",
        "NAME is a string, as in $_gdb_setting(\"print elements\"). A setting that is on or off is 1 or 0.",
    ),
    "_gdb_setting_str": (
        "(NAME)", "$_gdb_setting_str - returns the value of a rocdbg setting as a string.",
        "NAME is a string, as in $_gdb_setting_str(\"print elements\").",
    ),
    "_isvoid": (
        "(VALUE)", "Check whether an expression is void.",
        "Returns 1 for a convenience variable that was never set and for a call of a function that returns void, "
        "else 0.",
    ),
    "_memeq": (
        "(A, B, LENGTH)", "$_memeq - compare bytes of memory.",
        "Returns 1 if LENGTH bytes at A and B are the same, else 0.",
    ),
    "_regex": (
        "(STRING, REGEX)", "$_regex - check if a string matches a regular expression.",
        "Returns 1 if the beginning of STRING matches, else 0. Regular expressions are those of Python.",
    ),
    "_streq": ("(A, B)", "$_streq - check string equality.", "Returns 1 if the strings are the same, else 0."),
    "_strlen": (
        "(STRING)", "$_strlen - compute string length.", "Returns the number of bytes before the first null byte."
    ),
}
"""Arguments, the line for lists, and the result, by name."""


def add_functions(registry: Registry) -> None:
    """Declare ``function NAME`` for each: they cannot be run, but help, apropos and the manual find them."""
    for name, (arguments, summary, details) in FUNCTIONS.items():
        text = f"{summary}\n\nIn expressions: ${name}{arguments}\n{details}"
        registry.add(CommandSpec(
            ("function", name), _nothing, Category.SUPPORT, text, usage=f"function {name}", repeat=Repeat.NEVER,
            arguments=Arguments(optional("text", text_of("TEXT", Completes.NOTHING), "")),
        ))


def _nothing(shell: Shell, text: str) -> None:
    """Fails as GDB does for a name from this list."""
