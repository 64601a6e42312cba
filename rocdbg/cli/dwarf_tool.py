"""``rocdbg dwarf ACTION FILE``: shows or checks the DWARF of a file, without a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import rocdbg
from rocdbg.argument_parser import ArgumentParser
from rocdbg.cli.visible_text import visible
from rocdbg.cli.writer import tool_output
from rocdbg.debugger.reports.dwarf_files import check_file, explain_file, print_file
from rocdbg.errors import Error
from rocdbg.streams import complain

__all__ = ["run"]

FORMATS = ("text", "json", "sarif")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="rocdbg dwarf", allow_abbrev=False,
        description="Check and show debug information by the rules of the extensions for heterogeneous debugging.",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, words in (
        (
            "check", "show which rules of the extensions' specification the file breaks; status 1 if any, 2 if it "
            "cannot be opened"
        ),
        ("print", "list units, entries and attributes as rocdbg reads them"),
        ("explain", "show where objects are, and by which operations"),
    ):
        action = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        action.add_argument("file", metavar="FILE", help="a code object, bundle, fat binary or host object file")
        if name == "explain":
            action.add_argument(
                "name", metavar="NAME", nargs="?", default="", help="the name of an object; by default, all objects"
            )
            action.add_argument(
                "--pc", type=lambda text: int(text, 0), metavar="ADDRESS", help="an address in the file"
            )
            action.add_argument("--lane", type=int, default=0, metavar="LANE", help="a lane number; by default 0")
        if name == "check":
            action.add_argument("--format", choices=FORMATS, default="text", help="the format of the report")
        action.add_argument("--arch", metavar="TARGET-ID", help="which code object to use if the file contains several")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run the tool; return the exit status."""
    options = _parser().parse_args(arguments)
    is_good = True
    out = tool_output()
    try:
        lines: Iterable[str]
        if options.action == "check":
            is_good, lines = check_file(options.file, options.arch, options.format, rocdbg.__version__)
        elif options.action == "print":
            lines = print_file(options.file, options.arch)
        else:
            lines = explain_file(options.file, options.arch, options.name, options.pc, options.lane)
        for line in lines:
            out.line(visible(line))
    except Error as error:
        out.flush()
        complain(visible(str(error)))
        return 2
    out.flush()
    return 0 if is_good and out.failure is None else 1
