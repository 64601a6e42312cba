"""`info` about the program: registers, symbols, functions, variables, types, shared libraries, dispatches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import EVERYTHING, EXPRESSION, IDS, INTEGER, LOCATION, REGEXP, REGISTERS, text_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.cli.number_ranges import NumberList
from rocdbg.cli.register_groups import write_grouped, write_registers
from rocdbg.cli.settings.setting_value_kinds import STRING
from rocdbg.cli.text_columns import render
from rocdbg.debugger.base.patterns import Pattern
from rocdbg.debugger.reports.program_tables import kernel_rows
from rocdbg.debugger.reports.scope_info import scope_symbols
from rocdbg.debugger.reports.symbol_lists import SymbolRow
from rocdbg.debugger.reports.uninitialized_report import is_counting, uninitialized_rows
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.target.rocgdb_ids import WaveId, bracketed

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

STATUS = Category.STATUS


QUIET = Option("-q", "Do not print headings, or a message if nothing matches.", key="quiet")
PATTERN = optional("pattern", REGEXP, EVERYTHING)
SYMBOLS = Arguments(
    QUIET,
    Option("-n", "Exclude non-debugging symbols from the output.", key="plain", value=False, default=True),
    Option("-t", "Show only the symbols having a type matching this expression.", STRING, "type_pattern", gives="str",
           default=""),
    PATTERN,
)


def need_registers(shell: Shell) -> None:
    """Raise `CommandError` while the program is not running."""
    if not shell.session.inferior.running:
        raise CommandError("The program has no registers now.")


@command(
    "info registers", category=STATUS, aliases=("info r",), needs=need_registers,
    args=Arguments(
        Option("-grouped", "Show the registers initialised for the kernel, by meaning, and then the others, by kind."),
        optional("names", REGISTERS),
    ),
)
def info_registers(shell: Shell, grouped: bool, names: list[str] | None) -> None:
    """List of integer registers and their contents, for selected stack frame.

    One or more register names as argument means describe the given registers: s0, v5, exec, vcc, m0, pc, scc, or as
    instructions write them: s[4:5], v[0:1], [v0,v1], vcc_lo, src_shared_base, from gfx11 on v1.h. Vector registers
    show one value per lane, eight lanes to a line, each line headed by its first lane.

    The name of a group selects all its registers: general, vector, system, all; the groups user-sgprs, system-sgprs and
    work-item-ids contain the registers that the kernel requested, and show their meaning. With `set register-changes
    on', a star marks registers that changed since the previous stop, a tilde those that changed only in other lanes,
    and the group `changed' contains exactly these registers.
    """
    if grouped and not names:
        write_grouped(shell)
    else:
        write_registers(shell, names or [])


@command(
    "info all-registers", category=STATUS, needs=need_registers, args=Arguments(optional("names", REGISTERS)),
)
def info_all_registers(shell: Shell, names: list[str] | None) -> None:
    """List of all registers and their contents, for selected stack frame.

    One or more register names as argument means describe the given registers; the name of a group selects all its
    registers.
    """
    write_registers(shell, names or [])


def _list_symbols(
    shell: Shell, rows: Sequence[SymbolRow], what: str, pattern: str, quiet: bool, type_pattern: str = ""
) -> None:
    if not quiet:
        of_type = f' with type matching regular expression "{type_pattern}"' if type_pattern else ""
        if pattern:
            shell.line(f'All {what} matching regular expression "{pattern}"{of_type}:')
        else:
            shell.line(f"All defined {what}{of_type}{' ' if of_type else ''}:")
    for name, group in groupby(rows, key=lambda row: row.file.name if row.file else ""):
        shell.line(f"\nFile {name}:" if name else "\nFile unknown:")
        for row in group:
            shell.line(f"{row.line}:\t{row.text}" if row.line else f"\t{row.text}")


def _list_plain(shell: Shell, pattern: str, code: bool) -> None:
    plain = shell.session.symbols.plain_symbols(pattern, code)
    if plain:
        shell.line("\nNon-debugging symbols:")
        for symbol in plain:
            shell.line(f"{symbol.address:#018x}  {symbol.name}")


@command("info functions", category=STATUS, args=SYMBOLS)
def info_functions(shell: Shell, quiet: bool, plain: bool, type_pattern: str, pattern: Pattern) -> None:
    """All function names or those matching REGEXPs.

    -n excludes symbols without debug information; -t TYPEREGEXP selects by type.
    """
    rows = shell.session.symbols.functions(pattern.pattern, type_pattern)
    _list_symbols(shell, rows, "functions", pattern.pattern, quiet, type_pattern)
    if plain and not type_pattern:
        _list_plain(shell, pattern.pattern, code=True)


@command("info variables", category=STATUS, args=SYMBOLS)
def info_variables(shell: Shell, quiet: bool, plain: bool, type_pattern: str, pattern: Pattern) -> None:
    """All global and static variable names or those matching REGEXPs.

    -n excludes symbols without debug information; -t TYPEREGEXP selects by type.
    """
    rows = shell.session.symbols.variables(pattern.pattern, type_pattern)
    _list_symbols(shell, rows, "variables", pattern.pattern, quiet, type_pattern)
    if plain and not type_pattern:
        _list_plain(shell, pattern.pattern, code=False)


@command("info types", category=STATUS, args=Arguments(QUIET, PATTERN))
def info_types(shell: Shell, quiet: bool, pattern: Pattern) -> None:
    """All type names, or those matching REGEXP."""
    _list_symbols(shell, shell.session.symbols.types(pattern.pattern), "types", pattern.pattern, quiet)


@command("info kernels", category=STATUS, args=Arguments(PATTERN))
def info_kernels(shell: Shell, pattern: Pattern) -> None:
    """List the kernels of the program, with their registers, memory and arguments.

    Occupancy is an estimate of the waves that a SIMD can hold at once, with the resource that limits it. It applies to
    the workgroup that the kernel requires or the launch has, otherwise to the largest that the kernel may have. Kernels
    that run when their code object is loaded or unloaded are marked (init) or (fini).
    """
    rows = [row for row in kernel_rows(shell.session.launch, shell.session.warnings.add) if pattern.search(row.name)]
    if not rows:
        shell.line("No kernels.")
        return
    cells = [
        (
            row.title,
            str(row.vgprs),
            str(row.sgprs),
            str(row.lds),
            str(row.private),
            str(row.kernarg),
            row.occupancy,
            row.arguments,
        )
        for row in rows
    ]
    shell.write(render(("Kernel", "VGPRs", "SGPRs", "LDS", "Private", "Kernarg", "Occupancy", "Arguments"), cells))


@command(
    "info vtbl", category=STATUS,
    args=Arguments(required("expression", EXPRESSION, "Argument required (expression to compute).")),
)
def info_vtbl(shell: Shell, expression: str) -> None:
    """Show the virtual function table for a C++ object."""
    for line in shell.session.types.virtual_tables(expression):
        shell.line(line)


@command(
    "info symbol", category=STATUS,
    args=Arguments(required("address", EXPRESSION, "Argument required (address).", "ADDRESS")),
)
def info_symbol(shell: Shell, address: str) -> None:
    """Describe what symbol is at location ADDR."""
    number = shell.session.data.integer(address)
    place = shell.session.symbols.symbol_at(number) if shell.session.inferior.program is not None else None
    if place is None:
        shell.line(f"No symbol matches {address}.")
        return
    offset = f" + {place.offset}" if place.offset else ""
    shell.line(f"{place.name}{offset} in section {place.section}")


@command(
    "info address", category=STATUS,
    args=Arguments(required("symbol", text_of("SYMBOL", Completes.SYMBOL), "Argument required.")),
)
def info_address(shell: Shell, symbol: str) -> None:
    """Describe where symbol SYM is stored."""
    shell.line(shell.session.places.describe_address(symbol))


@command(
    "info scope", category=STATUS,
    args=Arguments(
        required("location", LOCATION, "requires an argument (function, line or *addr) to define a scope")
    ),
)
def info_scope(shell: Shell, location: str) -> None:
    """List the variables local to a scope."""
    rows = [
        row
        for place in shell.session.places.resolve(location)[:1]
        for row in scope_symbols(shell.session.symbols, place.file_address)
    ]
    if not rows:
        shell.line(f"Scope for {location} contains no locals or arguments.")
        return
    for index, row in enumerate(rows):
        if not index:
            shell.line(f"Scope for {location}:")
        length = f", length {row.length or 0}" if row.where != "optimized out" else ""
        within = "in " if row.where.startswith("static storage") else ""
        shell.line(f"Symbol {row.name} is {within}{row.where}{length}.")


@command("info sharedlibrary", category=STATUS, aliases=("info dll",), args=Arguments(PATTERN))
def info_sharedlibrary(shell: Shell, pattern: Pattern) -> None:
    """Status of loaded shared object libraries.

    The libraries are the loaded code objects.
    """
    rows = [row for row in shell.session.tables.shared_libraries() if pattern.search(row.uri)]
    if not rows:
        shell.line("No shared libraries matched." if pattern.pattern else "No shared libraries loaded at this time.")
        return
    cells = [
        (
            f"{row.low:#018x}" if row.low else "", f"{row.high:#018x}" if row.high else "",
            "Yes" if row.symbols_read else "No", row.uri,
        )
        for row in rows
    ]
    shell.write(render(("From", "To", "Syms Read", "Shared Object Library"), cells))


ONE_INFERIOR = Arguments(optional("inferior", INTEGER, 1, "INFERIOR"))


@command("info waves", category=STATUS, args=ONE_INFERIOR)
def info_waves(shell: Shell, inferior: int) -> None:
    """Show the number of waves, and how many of them run, step and are stopped."""
    count = _wave_count(shell, inferior)
    shell.line(f"{count} waves (0 running, 0 single-stepping, {count} stopped)")


@command("info waves count", category=STATUS, args=ONE_INFERIOR)
def info_waves_count(shell: Shell, inferior: int) -> None:
    """Show the number of waves."""
    shell.line(str(_wave_count(shell, inferior)))


def _wave_count(shell: Shell, inferior: int) -> int:
    if inferior != 1:
        raise CommandError(f"No inferior number {inferior}.")
    target = shell.session.inferior.target
    return len(target.waves()) if target is not None and not target.finished else 0


def _focused_wave(shell: Shell) -> WaveId:
    """Agent, queue, dispatch and wave of the focus; without a focus, those that are unique."""
    thread = shell.session.focus.current.thread
    return shell.session.inferior.wave(thread).id if thread is not None else WaveId(1, 1, 1, 1)


@command(
    "info dispatches", category=STATUS,
    args=Arguments(
        Option("-full", "Show where the parts of a dispatch are in memory."), optional("ids", IDS),
        unknown=Unknown.ERROR,
    ),
)
def info_dispatches(shell: Shell, full: bool, ids: NumberList | None) -> None:
    """List the dispatches in progress, or those with these numbers; -full shows the addresses of their parts."""
    target = shell.session.inferior.target
    rows = list(target.dispatches()) if target is not None and not target.finished else []
    if not rows:
        shell.line("No dispatches are currently active.")
        return
    if ids is not None:
        rows = [row for row in rows if row.number in ids.numbers]
        if not rows:
            shell.line(f"No dispatches match '{ids.text}'.")
            return
    head = ["Id", "Target Id", "Grid", "Workgroup", "Fence", "Kernel Function"]
    if full:
        head[5:5] = ["Address Spaces", "Kernel Descriptor", "Kernel Args", "Completion Signal"]
    cells = []
    for row in rows:
        cell = [
            str(row.number),
            row.target_id,
            bracketed(row.grid),
            bracketed(row.workgroup),
            row.fence,
            row.kernel,
        ]
        if full:
            signal = f"{row.completion_signal:#018x}" if row.completion_signal else "(nil)"
            cell[5:5] = [
                f"Shared({row.shared_size}), Private({row.private_size})", f"{row.descriptor_address:#018x}",
                f"{row.kernarg_address:#018x}", signal,
            ]
        cells.append(cell)
    current = _focused_wave(shell).dispatch
    shell.write(render(head, cells, [row.number == current for row in rows]))


@command("info uninitialized", category=STATUS, args=Arguments())
def info_uninitialized(shell: Shell) -> None:
    """List reads of buffer bytes that neither the launch nor the kernel had written.

    Each line is an instruction: how many reads (of single lanes) accessed such bytes, how many bytes these were, and
    the thread and lane of the first read. A buffer for which the launch gives no contents counts as never written. "set
    count-uninitialized on" enables counting in the next run.
    """
    if not is_counting(shell.session.launch):
        raise CommandError('Reads are not counted. Use "set count-uninitialized on" before "run".')
    rows = uninitialized_rows(shell.session.launch, shell.session.inferior.need_program(), shell.session.symbols)
    if not rows:
        shell.line("No reads of uninitialized bytes.")
        return
    cells = [
        (
            str(row.reads), str(row.bytes), f"{row.pc:#018x}",
            str(row.thread) if row.lane is None else f"{row.thread}:{row.lane}", row.what, row.memory,
        )
        for row in rows
    ]
    shell.write(render(("Reads", "Bytes", "Address", "First By", "What", "First Read"), cells))


@command("info queues", category=STATUS, args=Arguments())
def info_queues(shell: Shell) -> None:
    """List the queues of the agents, and the cause of the error if a queue is in the error state."""
    target = shell.session.inferior.target
    rows = list(target.queues()) if target is not None else []
    if not rows:
        shell.line("No queues are currently active.")
        return
    cells: list[tuple[str, ...]] = [
        (str(r.number), r.target_id, r.type, str(r.read), str(r.write), str(r.size), f"{r.address:#018x}")
        for r in rows
    ]
    current = _focused_wave(shell).queue
    head: tuple[str, ...] = ("Id", "Target Id", "Type", "Read", "Write", "Size", "Address")
    errors = [row.error or shell.session.running.error_of_queue(row.number) for row in rows]
    if any(errors):
        head, cells = (*head, "Error"), [(*row, error) for row, error in zip(cells, errors, strict=True)]
    shell.write(render(head, cells, [row.number == current for row in rows]))


@command("info agents", category=STATUS, args=Arguments())
def info_agents(shell: Shell) -> None:
    """List the agents (devices)."""
    target = shell.session.inferior.target
    rows = list(target.agents()) if target is not None else []
    if not rows:
        shell.line("No agents are currently active.")
        return
    cells = [
        (str(r.number), "A", r.target_id, r.architecture, r.name, str(r.cores), str(r.threads), r.location)
        for r in rows
    ]
    head = ("Id", "State", "Target Id", "Architecture", "Device Name", "Cores", "Threads", "Location")
    current = _focused_wave(shell).agent
    shell.write(render(head, cells, [row.number == current for row in rows]))


def _finds(what: str) -> Arguments:
    return Arguments(required("pattern", REGEXP, f"{what} find: Argument required"))


def _find(shell: Shell, pattern: Pattern, what: str, rows: Sequence[tuple[int, str]]) -> None:
    found = [row for row in rows if pattern.search(row[1])]
    for number, target_id in found:
        shell.line(f"{what} {number} has target id '{target_id}'")
    if not found:
        plural = "dispatches" if what == "Dispatch" else what.lower() + "s"
        shell.line(f"No {plural} match '{pattern.pattern}'")


@command("dispatch find", category=STATUS, args=_finds("dispatch"))
def dispatch_find(shell: Shell, pattern: Pattern) -> None:
    """Find dispatches that match a regular expression in their target ID.

    The name of the kernel is also matched.
    """
    target = shell.session.inferior.target
    rows = target.dispatches() if target else []
    named = [row for row in rows if pattern.search(row.kernel) and not pattern.search(row.target_id)]
    for row in named:
        shell.line(f"Dispatch {row.number} has kernel function '{row.kernel}'")
    others = [(row.number, row.target_id) for row in rows if pattern.search(row.target_id)]
    if others or not named:
        _find(shell, pattern, "Dispatch", others)


@command("queue find", category=STATUS, args=_finds("queue"))
def queue_find(shell: Shell, pattern: Pattern) -> None:
    """Find queues that match a regular expression in their target ID."""
    target = shell.session.inferior.target
    _find(shell, pattern, "Queue", [(r.number, r.target_id) for r in target.queues()] if target else [])


@command("agent find", category=STATUS, args=_finds("agent"))
def agent_find(shell: Shell, pattern: Pattern) -> None:
    """Find agents that match a regular expression in their target ID."""
    target = shell.session.inferior.target
    _find(shell, pattern, "Agent", [(r.number, r.target_id) for r in target.agents()] if target else [])


GONE = "a breakpoint that has since been deleted"


@command("info program", category=STATUS, args=Arguments())
def info_program(shell: Shell) -> None:
    """Execution status of the program."""
    target = shell.session.inferior.target
    if target is None or target.finished:
        shell.line("The program being debugged is not being run.")
        return
    scope = shell.session.focus.current
    assert scope.thread is not None
    wave = shell.session.inferior.wave(scope.thread)
    shell.line(f"\tUsing the running image of child {wave.target_id}.")
    shell.line(f"Program stopped at {wave.pc:#x}.")
    event = shell.session.running.last_stop
    if event is not None and event.reason is StopReason.STEP:
        shell.line("It stopped after being stepped.")
    elif event is not None and event.breakpoints:
        for number in event.breakpoints:
            there = number in shell.session.breakpoints
            shell.line(f"It stopped at {f'breakpoint {number}' if there else GONE}.")
    elif event is not None and event.reason in (StopReason.FINISHED, StopReason.LOCATION):
        shell.line(f"It stopped at {GONE}.")
    elif event is not None and event.signal is not None:
        shell.line(f"It stopped at signal {event.signal.name}, {event.signal.description}.")
    shell.line('Type "info stack" or "info registers" for more information.')
