"""$_gdb_setting and $_gdb_setting_str: values of settings in expressions; $_gdb_major and $_gdb_minor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.settings.setting_declaration import Setting
from rocdbg.cli.settings.setting_value_kinds import Boolean, Number, Radix
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.names.convenience_variables import EvaluationHost, string_value
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

GDB_VERSION = (13, 1)
"""The version of GDB whose commands are implemented; scripts check it."""


def add_setting_functions(shell: Shell) -> None:
    """Define these functions and variables for expressions in the shell's session."""
    convenience = shell.session.convenience
    for name, number in zip(("_gdb_major", "_gdb_minor"), GDB_VERSION, strict=True):
        convenience.define_dynamic(name, _constant(number))
    convenience.functions["_gdb_setting"] = lambda host, given: _value(
        shell, _named(shell, "_gdb_setting", host, given)
    )
    convenience.functions["_gdb_setting_str"] = lambda host, given: string_value(
        _text(shell, _named(shell, "_gdb_setting_str", host, given)).encode()
    )


def _constant(number: int) -> Callable[[object], Value]:
    return lambda focus: Value.of_int(c_types.INT, number)


def _named(shell: Shell, function: str, host: EvaluationHost, given: Sequence[Value]) -> Setting:
    """Return the setting that the single argument names. Raises `ExpressionError`."""
    if len(given) != 1:
        raise ExpressionError(f"You must provide an argument to ${function}")
    try:
        name = host.read_string(given[0]).decode("utf-8", "replace")
    except ExpressionError:
        raise ExpressionError(f"First argument of ${function} must be a string.") from None
    try:
        setting = shell.registry.find(f"show {name}").spec.setting
    except CommandError:
        setting = None
    if setting is None:
        raise ExpressionError(f"First argument of ${function} must be a valid setting of the 'show' command.")
    return setting


def _text(shell: Shell, setting: Setting) -> str:
    return setting.kind.show(setting.place.read(shell))


def _value(shell: Shell, setting: Setting) -> Value:
    """Return a setting as a number if it is a switch or a number (0 for no limit), otherwise as text."""
    value = setting.place.read(shell)
    if isinstance(setting.kind, Boolean):
        return Value.of_int(c_types.INT, int(bool(value)))
    if isinstance(setting.kind, Radix):
        return Value.of_int(c_types.UNSIGNED_INT, int(str(value)))
    if isinstance(setting.kind, Number):
        signed = setting.kind.signed or setting.kind.unlimited == -1
        return Value.of_int(c_types.INT if signed else c_types.UNSIGNED_INT, int(str(value)))
    return string_value(_text(shell, setting).encode())
