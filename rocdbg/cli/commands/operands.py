"""The operands of the next instruction, and the initial registers of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments
from rocdbg.cli.command_options import Option
from rocdbg.cli.command_registry import Category, CommandError, command
from rocdbg.cli.commands.info import need_registers
from rocdbg.cli.operand_lines import register_row, shown_value, write_operands
from rocdbg.debugger.reports.kernel_registers import given_registers

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

STATUS = Category.STATUS


@command(
    "info operands", category=STATUS, needs=need_registers,
    args=Arguments(Option("-all", "Show the values of vector registers in all lanes.", key="all_lanes")),
)
def info_operands(shell: Shell, all_lanes: bool) -> None:
    """Show the registers that the instruction at the PC reads and will write, with their values.

    For vector registers the value in the focused lane is shown; EXEC, VCC and SCC are listed if the instruction uses
    them implicitly. Changes by the previous instruction come first, with the old and the new value, if this command (or
    a stop with `set operands on') showed its operands; a star marks operands that have changed since then.
    """
    write_operands(shell, all_lanes)


@command("info kernel-registers", category=STATUS, needs=need_registers, args=Arguments())
def info_kernel_registers(shell: Shell) -> None:
    """Show the registers that are initialised for the kernel when its waves begin, by meaning.

    The values shown are the current ones (in the focused lane for vector registers): code may have overwritten the
    initial ones.
    """
    session = shell.session
    thread, lane = session.focus.current.thread, session.focus.current.lane or 0
    if thread is None:
        raise CommandError("No thread selected")
    kernel = session.inferior.program_of(thread).code_object.kernels.find(session.inferior.wave(thread).kernel)
    if kernel is None:
        raise CommandError("The kernel of this wave is not known.")
    for row in given_registers(kernel.descriptor):
        found = register_row(shell, row.name)
        if found is not None:
            shell.line(f"{row.meaning:<26} {row.name:<10} {shown_value(found.value, lane, row.name)}")
