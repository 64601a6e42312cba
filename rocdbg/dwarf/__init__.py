"""DWARF with the extensions for heterogeneous debugging: a library that knows no debugger and no GPU.

    from rocdbg import dwarf
    dwarf.open("saxpy.co")                                  # units and entries, and their attributes
    dwarf.decode(data), dwarf.format_expression(data)       # operations, as data or text
    dwarf.evaluate(data, dwarf.SimpleContext(lane=5, ...))  # a Value or a LocationDescription
    dwarf.parse_location_list(...), dwarf.parse_frames(...) # location lists, call frame information

References such as "A.2.5.4" are to appendix A of "DWARF Extensions For Heterogeneous Debugging". The public names are
imported when they are first used. `rocdbg.dwarf.info` reads units, entries, lines, types and names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocdbg.dwarf.architecture import AddressSpace as AddressSpace
    from rocdbg.dwarf.architecture import Architecture as Architecture
    from rocdbg.dwarf.attribute_names import attribute_name as attribute_name
    from rocdbg.dwarf.caller_context import CallerContext as CallerContext
    from rocdbg.dwarf.caller_registers import CallerRegisters as CallerRegisters
    from rocdbg.dwarf.cfi import FrameTable as FrameTable
    from rocdbg.dwarf.cfi import parse_frames as parse_frames
    from rocdbg.dwarf.cfi_unwinding import Row as Row
    from rocdbg.dwarf.checker.check import check as check
    from rocdbg.dwarf.checker.findings import Finding as Finding
    from rocdbg.dwarf.clang_conventions import normalise as normalise
    from rocdbg.dwarf.context import Context as Context
    from rocdbg.dwarf.context import Expression as Expression
    from rocdbg.dwarf.context import LocationList as LocationList
    from rocdbg.dwarf.conventions import conventions_of as conventions_of
    from rocdbg.dwarf.decoding import Operation as Operation
    from rocdbg.dwarf.decoding import decode as decode
    from rocdbg.dwarf.errors import DecodeError as DecodeError
    from rocdbg.dwarf.errors import DwarfError as DwarfError
    from rocdbg.dwarf.errors import EvaluationError as EvaluationError
    from rocdbg.dwarf.errors import IllFormed as IllFormed
    from rocdbg.dwarf.errors import LimitExceeded as LimitExceeded
    from rocdbg.dwarf.errors import UndefinedValue as UndefinedValue
    from rocdbg.dwarf.evaluator import dereference as dereference
    from rocdbg.dwarf.evaluator import evaluate as evaluate
    from rocdbg.dwarf.evaluator import evaluate_frame_base as evaluate_frame_base
    from rocdbg.dwarf.evaluator import evaluate_location as evaluate_location
    from rocdbg.dwarf.evaluator import evaluate_location_list as evaluate_location_list
    from rocdbg.dwarf.explanation import Explanation as Explanation
    from rocdbg.dwarf.explanation import explain as explain
    from rocdbg.dwarf.expression_text import format_expression as format_expression
    from rocdbg.dwarf.location import LocationDescription as LocationDescription
    from rocdbg.dwarf.location import Place as Place
    from rocdbg.dwarf.location import implicit_location as implicit_location
    from rocdbg.dwarf.location import undefined_location as undefined_location
    from rocdbg.dwarf.location_list_reader import parse_location_list as parse_location_list
    from rocdbg.dwarf.operation_assembler import assemble as assemble
    from rocdbg.dwarf.operation_table import DIALECTS as DIALECTS
    from rocdbg.dwarf.operation_table import OPERATIONS as OPERATIONS
    from rocdbg.dwarf.reader.entry import Entry as Entry
    from rocdbg.dwarf.reader.file import DebugFile as DebugFile
    from rocdbg.dwarf.reader.file import DebugUnit as DebugUnit
    from rocdbg.dwarf.reader.file import open as open
    from rocdbg.dwarf.simple_context import SimpleContext as SimpleContext
    from rocdbg.dwarf.storage import StorageKind as StorageKind
    from rocdbg.dwarf.typed_values import BaseType as BaseType
    from rocdbg.dwarf.typed_values import ConstValue as ConstValue
    from rocdbg.dwarf.typed_values import ImplicitPointerValue as ImplicitPointerValue
    from rocdbg.dwarf.typed_values import Value as Value

# Module of each public name. No submodule may have the name of a public function, because importing the submodule would
# hide the function.
_LAZY = {
    "AddressSpace": "architecture",
    "Architecture": "architecture",
    "BaseType": "typed_values",
    "CallerContext": "caller_context",
    "CallerRegisters": "caller_registers",
    "ConstValue": "typed_values",
    "Context": "context",
    "DIALECTS": "operation_table",
    "DebugFile": "reader.file",
    "DebugUnit": "reader.file",
    "DecodeError": "errors",
    "DwarfError": "errors",
    "Entry": "reader.entry",
    "EvaluationError": "errors",
    "Explanation": "explanation",
    "Expression": "context",
    "Finding": "checker.findings",
    "FrameTable": "cfi",
    "IllFormed": "errors",
    "ImplicitPointerValue": "typed_values",
    "LimitExceeded": "errors",
    "LocationDescription": "location",
    "LocationList": "context",
    "OPERATIONS": "operation_table",
    "Operation": "decoding",
    "Place": "location",
    "Row": "cfi_unwinding",
    "SimpleContext": "simple_context",
    "StorageKind": "storage",
    "UndefinedValue": "errors",
    "Value": "typed_values",
    "assemble": "operation_assembler",
    "attribute_name": "attribute_names",
    "check": "checker.check",
    "conventions_of": "conventions",
    "decode": "decoding",
    "dereference": "evaluator",
    "evaluate": "evaluator",
    "evaluate_frame_base": "evaluator",
    "evaluate_location": "evaluator",
    "evaluate_location_list": "evaluator",
    "explain": "explanation",
    "format_expression": "expression_text",
    "implicit_location": "location",
    "normalise": "clang_conventions",
    "open": "reader.file",
    "parse_frames": "cfi",
    "parse_location_list": "location_list_reader",
    "undefined_location": "location",
}

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'rocdbg.dwarf' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"rocdbg.dwarf.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
