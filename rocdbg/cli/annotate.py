"""`rocdbg annotate IN -o OUT`: writes the debug information that rocdbg derives, for other tools."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rocdbg.argument_parser import ArgumentParser
from rocdbg.cli.visible_text import visible
from rocdbg.cli.writer import tool_output
from rocdbg.debugger.annotate.annotated_file import annotate
from rocdbg.errors import Error
from rocdbg.streams import LOST, complain

_DESCRIPTION = """\
Write a code object with debug information derived from its machine code: unwind rules (.debug_frame), lane
positions (DW_AT_LLVM_lane_pc, DW_AT_LLVM_active_lane), frame bases, and locations with the operations of the DWARF
extensions for heterogeneous debugging. Code and data remain unchanged, byte for byte.
"""


def run(arguments: Sequence[str]) -> int:
    """Run the command; return the exit status."""
    parser = ArgumentParser(
        prog="rocdbg annotate", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="IN", help="a code object, or a file that contains several")
    parser.add_argument("-o", dest="output", metavar="OUT", required=True, help="the code object to write")
    parser.add_argument(
        "-arch", "--arch", metavar="TARGET-ID", help="which code object to use if the file contains several: gfx90a, "
        "gfx90a:xnack+, ..."
    )
    options = parser.parse_args(arguments)
    try:
        done = annotate(options.file, Path(options.output), options.arch)
    except Error as error:
        complain(f"rocdbg annotate: {visible(str(error))}")
        return 1
    out = tool_output()
    out.line(
        f"{options.output}: {_count(done.functions, 'function')}, "
        f"unwind rules for {done.unwound}, lane positions for {done.with_lanes}"
    )
    out.flush()
    return LOST if out.failure is not None else 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
