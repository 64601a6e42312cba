"""Commands about descriptors: info image, info sampler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import EXPRESSION
from rocdbg.cli.arguments import Arguments, required
from rocdbg.cli.command_registry import Category, command

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

_MISSING = "Argument required (a descriptor: its address, a value, or registers like s[8:15])."
_DESCRIPTOR = Arguments(required("descriptor", EXPRESSION, _MISSING))


@command("info image", category=Category.STATUS, args=_DESCRIPTOR)
def info_image(shell: Shell, descriptor: str) -> None:
    """Show an image: its kind, sizes, format, and the address of its texels.

    EXPRESSION is an argument of OpenCL's image types, the handle of a texture or another address of a descriptor, a
    value of 16 or 32 bytes, or the registers that an image instruction names: info image s[8:15].
    """
    from rocdbg.debugger.reports.image_descriptors import described_image  # imported late: few sessions need it

    for line in described_image(shell.session.data, shell.session.inferior, descriptor):
        shell.line(line)


@command("info sampler", category=Category.STATUS, args=_DESCRIPTOR)
def info_sampler(shell: Shell, descriptor: str) -> None:
    """Show a sampler: its filters, border handling and coordinates.

    EXPRESSION is as for "info image". The sampler of a HIP texture is at its handle + 48.
    """
    from rocdbg.debugger.reports.image_descriptors import described_sampler  # imported late: few sessions need it

    for line in described_sampler(shell.session.data, shell.session.inferior, descriptor):
        shell.line(line)
