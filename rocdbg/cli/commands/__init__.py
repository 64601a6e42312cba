"""The commands, one module per subject; each handler is declared with `rocdbg.cli.registry.command`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocdbg.cli.registry import Registry


def add_all(registry: Registry) -> None:
    """Add the commands that every shell has."""
    from rocdbg.cli.commands import (
        aliases,
        autoload,
        breakpoint_tables,
        breakpoints,
        calls,
        catching,
        code_objects,
        convenience_functions,
        data,
        dprintf,
        dwarf,
        environment,
        files,
        frame_apply,
        help,
        host,
        host_catching,
        images,
        inferiors,
        info,
        lanes,
        llvmdi,
        macros,
        maintenance,
        memory,
        outside,
        places,
        plugins,
        running,
        scripting,
        settings,
        signals,
        skips,
        sources,
        stack,
        support,
        time,
        trace_frames,
        tracing,
        tui,
        unavailable,
        watchpoints,
    )
    from rocdbg.cli.prefixes import prefix_command

    for module in (
        help, support, aliases, outside, scripting, settings, autoload, running, calls, breakpoints, breakpoint_tables,
        watchpoints, catching, host_catching, dprintf, stack, frame_apply, skips, lanes, places, data, memory, macros,
        sources, info,
        files, code_objects, images, plugins,
        maintenance, dwarf, llvmdi, signals, environment, inferiors, host, time, tracing, trace_frames, tui,
    ):
        registry.add_module(module)
    tui.add_layouts(registry)
    memory.add_dumps(registry)
    convenience_functions.add_functions(registry)
    registry.prefix_command = prefix_command
    settings.add_settings(registry)
    unavailable.add_unavailable(registry)
