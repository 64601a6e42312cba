"""The interface for plug-ins; `docs/plugins.md` explains it with examples.

A plug-in is a module with a function ``register(api)``, where ``api`` is a `PluginApi`. Everything it needs is
in this module, and remains compatible within a major version.
"""

from __future__ import annotations

from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.cli.plugin_shell import PluginShell as Shell
from rocdbg.debugger.plugin_host import PluginApi
from rocdbg.debugger.plugin_session import PluginSession as Session
from rocdbg.debugger.reports.session_tables import LaneRow, LaneState
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from rocdbg.debugger.values import c_types as ctypes
from rocdbg.debugger.values.appearance import Pretty
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, BaseType, ClassType, PointerType, Type, TypedefType, VectorType
from rocdbg.errors import Error

__all__ = [
    "ArrayType",
    "BaseType",
    "Category",
    "ClassType",
    "CommandError",
    "Completes",
    "Error",
    "LaneRow",
    "LaneState",
    "Observer",
    "PluginApi",
    "PointerType",
    "Pretty",
    "Session",
    "Shell",
    "StopEvent",
    "StopReason",
    "Type",
    "TypedefType",
    "Value",
    "VectorType",
    "command",
    "ctypes",
]
