"""Reads, checks and evaluates LLVM's extensions of debug information for heterogeneous programs, and lowers them to
DWARF.

    from rocdbg import llvmdi
    module = llvmdi.read("kernel.ll")                       # or read_text(text)
    for finding in llvmdi.check(module): print(finding)
    info = llvmdi.DebugInfo(module)
    llvmdi.Evaluator(info, llvmdi.State(context, values)).locate(variable, function, index)
    llvmdi.lower(info, llvmdi.Placement(places), "amd").entry("x").content

It follows "LLVM Extensions For Heterogeneous Debugging". Of rocdbg's larger packages it imports only `rocdbg.dwarf`.
Names are imported when first used. docs/llvmdi.md states how open points of the specification are interpreted.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocdbg.llvmdi.canonical import canonical_expression as canonical_expression
    from rocdbg.llvmdi.checker import Finding as Finding
    from rocdbg.llvmdi.checker import check as check
    from rocdbg.llvmdi.di_expressions import Expression as Expression
    from rocdbg.llvmdi.di_operations import OPERATIONS as OPERATIONS
    from rocdbg.llvmdi.errors import EvaluationError as EvaluationError
    from rocdbg.llvmdi.errors import LlvmDiError as LlvmDiError
    from rocdbg.llvmdi.errors import LoweringError as LoweringError
    from rocdbg.llvmdi.errors import NotWellFormed as NotWellFormed
    from rocdbg.llvmdi.errors import ReadError as ReadError
    from rocdbg.llvmdi.lowering import Lowered as Lowered
    from rocdbg.llvmdi.lowering import lower as lower
    from rocdbg.llvmdi.module import Module as Module
    from rocdbg.llvmdi.module_debug_info import DebugInfo as DebugInfo
    from rocdbg.llvmdi.object_evaluator import Evaluator as Evaluator
    from rocdbg.llvmdi.object_evaluator import State as State
    from rocdbg.llvmdi.placement import Placement as Placement
    from rocdbg.llvmdi.placement import parse_places as parse_places
    from rocdbg.llvmdi.placement import read_placement as read_placement
    from rocdbg.llvmdi.reader import read as read
    from rocdbg.llvmdi.reader import read_text as read_text
    from rocdbg.llvmdi.segments import Segment as Segment

_LAZY = {
    "DebugInfo": "module_debug_info",
    "EvaluationError": "errors",
    "Evaluator": "object_evaluator",
    "Expression": "di_expressions",
    "Finding": "checker",
    "LlvmDiError": "errors",
    "Lowered": "lowering",
    "LoweringError": "errors",
    "Module": "module",
    "NotWellFormed": "errors",
    "OPERATIONS": "di_operations",
    "Placement": "placement",
    "ReadError": "errors",
    "Segment": "segments",
    "State": "object_evaluator",
    "canonical_expression": "canonical",
    "check": "checker",
    "lower": "lowering",
    "parse_places": "placement",
    "read": "reader",
    "read_placement": "placement",
    "read_text": "reader",
}

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'rocdbg.llvmdi' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"rocdbg.llvmdi.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
