"""The values of the template parameters of a frame's function."""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.located_values import value_at
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Memory
from rocdbg.dwarf.info import Constant, Exprloc, Function
from rocdbg.dwarf.info.types import ClassType, TemplateArgument, Type
from rocdbg.dwarf.info.unit_index import CLASS_TAGS
from rocdbg.dwarf.reader import results


def arguments(frame: Frame) -> Iterator[TemplateArgument]:
    """Yield the arguments of the frame's function, then those of the class that it is a method of."""
    if frame.function is not None:
        yield from arguments_of(frame.function)


def arguments_of(function: Function) -> Iterator[TemplateArgument]:
    """Yield the template arguments of a function, as `arguments` does."""
    if not function.unit.is_cxx:
        return
    *_, declaration = function.die.origins()
    types = function.unit.entries.types
    for die in dict.fromkeys((function.die, declaration)):
        yield from types.template_arguments(die)
    around = declaration.parent
    class_ = types.read(around) if around is not None and around.tag in CLASS_TAGS else None
    if isinstance(class_, ClassType):
        yield from class_.body.template_arguments


def argument_value(frame: Frame, name: str, memory: Memory) -> Value | None:
    """Return the non-type template argument to which a name refers, which may be an address; ``None`` otherwise."""
    for argument in arguments(frame):
        if argument.name == name and isinstance(argument.value, Exprloc) and frame.function is not None:
            place = results.location(frame.program.info.die(argument.offset), frame.context)
            return value_at(argument.type, place, memory, frame.context)
        if argument.name == name and isinstance(argument.value, Constant):
            number = argument.value.signed_value(c_types.size_of(argument.type))
            return Value.of_int(argument.type, number)
    return None


def argument_type(frame: Frame, name: str) -> Type | None:
    """Return the type argument to which a name refers; ``None`` otherwise."""
    found = (each.type for each in arguments(frame) if each.name == name and each.value is None)
    return next(found, None)
