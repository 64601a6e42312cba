"""The meanings of names that begin with a dollar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.arch.targets import Target
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import ExpressionError, NoSymbolError, RegisterAccessError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.names.meanings import need_names
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import VoidType
from rocdbg.isa import operands
from rocdbg.isa.operands import OperandSyntaxError, Register

if TYPE_CHECKING:
    from rocdbg.debugger.expr.evaluator import Evaluator

_PROBE_NAME = re.compile(r"_exception|_probe_arg(c|\d|1[01])")
"""GDB's variables about static probes, which device code cannot have."""


def _without_probe(name: str, environment: Environment) -> str:
    if environment.frame is None:
        return "No frame selected"
    if name == "_exception":
        return "did not find exception probe (does libstdcxx have SDT probes?)"
    return f"No probe at PC {environment.frame.pc:#018x}"


def dollar_value(name: str, environment: Environment) -> Value:
    """Return ``$``, ``$$``, ``$3`` or ``$$2`` (values of the history), or else a register or convenience variable."""
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


def registers(node: syntax.Registers, evaluator: Evaluator) -> Value:
    """Return registers in operand syntax: a range, a list, or a half. Names of convenience variables and, in lists, of
    the program's variables keep their meaning.

    Raises `RegisterAccessError` for invalid operands, and for registers that the wave does not have.
    """
    environment = evaluator.environment
    if isinstance(node, syntax.RegisterRange) and node.last is None and _is_set(node.file, environment):
        return evaluator.value(syntax.Index(syntax.Dollar(f"${node.file}"), node.first))
    if isinstance(node, syntax.RegisterHalf) and isinstance(node.whole, syntax.Dollar) and (
        environment.register(node.whole.name[1:]) is None
    ):
        return evaluator.value(syntax.Member(node.whole, node.half, False))
    if isinstance(node, syntax.RegisterList) and node.otherwise is not None and _has_names(node.otherwise, environment):
        return evaluator.value(node.otherwise)
    file = environment.registers
    try:
        return file.of(_operand(node, evaluator, file.target.architecture, file.wave_size))
    except OperandSyntaxError as error:
        raise RegisterAccessError(f"There is no register {error.text}: {error.reason}.") from None


def _is_set(name: str, environment: Environment) -> bool:
    return not isinstance(environment.convenience.get(name, environment.focus).type, VoidType)


def _has_names(node: syntax.Expression, environment: Environment) -> bool:
    """Whether all names in a tree are names of the program."""
    try:
        need_names(node, environment)
    except NoSymbolError:
        return False
    return True


def _operand(node: syntax.Registers, evaluator: Evaluator, target: Target, wave_size: int) -> Register:
    """Return the registers that the node names, by the rules for operands. Raises OperandSyntaxError."""
    match node:
        case syntax.RegisterRange(file, first_, last_):
            first = _number(evaluator.operand(first_), file)
            last = first if last_ is None else _number(evaluator.operand(last_), file)
            text = f"${file}[{first}:{last}]" if last_ is not None else f"${file}[{first}]"
            if file not in operands.FILES:
                raise OperandSyntaxError(text, f"only registers {', '.join(operands.FILES)} can be given as a range")
            return operands.register_range(file, first, last, target, text, of_operand=False)
        case syntax.RegisterList(elements, text):
            parts = [_operand(element, evaluator, target, wave_size) for element in elements]
            return operands.register_list(parts, target, text)
        case syntax.RegisterHalf(whole, half):
            register = _operand(whole, evaluator, target, wave_size)
            return operands.register_half(register, half, target, f"${operands.register_text(register, target)}.{half}")
        case syntax.Dollar(name):
            found = operands.named_register(name[1:], target, wave_size, name)
            if found is None:
                raise OperandSyntaxError(name, f"instructions of {target.name} do not have such an operand")
            return found


def _number(value: Value, file: str) -> int:
    if not c_types.is_integral(value.type):
        raise OperandSyntaxError(f"${file}[...]", "a register number must be an integer")
    return value.as_int()


def is_convenience(node: syntax.Expression, environment: Environment) -> bool:
    """Whether an expression is the name of a convenience variable."""
    if not isinstance(node, syntax.Dollar):
        return False
    body = node.name[1:]
    if body in ("", "$") or body.lstrip("$").isdecimal():
        return False
    return environment.register(body) is None
