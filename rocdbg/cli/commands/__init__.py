"""The commands, one module per subject; each handler is declared with `rocdbg.cli.command_registry.command`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocdbg.cli.command_registry import Registry


def add_all(registry: Registry) -> None:
    """Add the commands that every shell has."""
    from rocdbg.cli.commands import (
        absent_commands,
        aliases,
        autoload,
        breakpoint_tables,
        breakpoints,
        catching,
        code_objects,
        convenience_functions,
        dprintf,
        dwarf,
        environment,
        files,
        frame_apply,
        full_screen,
        grid_positions,
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
        operands,
        plugins,
        print_and_set,
        return_and_jump,
        reverse_and_recording,
        running,
        scripting,
        set_and_show,
        shell_and_make,
        signals,
        skips,
        sources,
        stack,
        support,
        trace_frames,
        tracing,
        watchpoints,
    )
    from rocdbg.cli.prefixes import prefix_command

    for module in (
        help, support, aliases, shell_and_make, scripting, set_and_show, autoload, running, return_and_jump,
        breakpoints, breakpoint_tables, watchpoints, catching, host_catching, dprintf, stack, frame_apply, skips,
        lanes, grid_positions, print_and_set, memory, macros, sources, info, operands, files, code_objects, images,
        plugins, maintenance, dwarf, llvmdi, signals, environment, inferiors, host, reverse_and_recording, tracing,
        trace_frames, full_screen,
    ):
        registry.add_module(module)
    full_screen.add_layouts(registry)
    memory.add_dumps(registry)
    convenience_functions.add_functions(registry)
    registry.prefix_command = prefix_command
    set_and_show.add_settings(registry)
    absent_commands.add_unavailable(registry)
