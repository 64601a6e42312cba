"""What names with a dollar stand for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.expr import ast
from rocdbg.debugger.expr.environment import Environment
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import VoidType

if TYPE_CHECKING:
    from rocdbg.debugger.expr.evaluator import Evaluator

_PROBE_NAME = re.compile(r"_exception|_probe_arg(c|\d|1[01])")
"""Variables of GDB about static probes in the code, of which the device's has none."""


def _without_probe(name: str, environment: Environment) -> str:
    if environment.frame is None:
        return "No frame selected"
    if name == "_exception":
        return "did not find exception probe (does libstdcxx have SDT probes?)"
    return f"No probe at PC {environment.frame.pc:#018x}"


def dollar_value(name: str, environment: Environment) -> Value:
    """``$``, ``$$``, ``$3``, ``$$2``: of the history; a register; a convenience variable."""
    body = name[1:]
    history = environment.history
    if body == "":
        return history.relative(0)
    if body == "$":
        return history.relative(1)
    if body.startswith("$") and body[1:].isdecimal():
        return history.relative(decimal(body[1:]))
    if body.isdecimal():
        return history.get(decimal(body)) if body != "0" else history.relative(0)
    register = environment.register(body)
    if register is not None:
        return register
    if _PROBE_NAME.fullmatch(body) and body not in environment.convenience:
        raise ExpressionError(_without_probe(body, environment))
    return environment.convenience.get(body, environment.focus)


def registers(node: ast.RegisterRange, evaluator: Evaluator) -> Value:
    """Registers of a file in brackets; elements where there is a convenience variable of the file's name."""
    environment = evaluator.environment
    if node.last is None and not isinstance(environment.convenience.get(node.file, environment.focus).type, VoidType):
        return evaluator.value(ast.Index(ast.Dollar(f"${node.file}"), node.first))
    first = evaluator.operand(node.first).as_int()
    last = first if node.last is None else evaluator.operand(node.last).as_int()
    return environment.register_range(node.file, first, last)


def is_convenience(node: ast.Expression, environment: Environment) -> bool:
    """Whether it names a convenience variable."""
    if not isinstance(node, ast.Dollar):
        return False
    body = node.name[1:]
    if body in ("", "$") or body.lstrip("$").isdecimal():
        return False
    return environment.register(body) is None
