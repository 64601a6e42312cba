"""``rocdbg llvmdi ACTION FILE``: LLVM's debug information extensions without a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.argument_parser import ArgumentParser
from rocdbg.cli.visible_text import visible
from rocdbg.cli.writer import tool_output
from rocdbg.debugger.reports.llvm_debug_info import DIALECTS, report
from rocdbg.errors import Error
from rocdbg.streams import complain

__all__ = ["run"]

_ACTIONS = {
    "check": "show which rules of the extensions' specification the file breaks; status 1 if any",
    "print": "list objects, lifetime segments and expressions",
    "canonical": "list the same, with expressions in canonical form",
    "lower": "show the resulting DWARF; status 1 if something has no equivalent in DWARF",
    "explain": "show where objects are, and by which operations",
}


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="rocdbg llvmdi", allow_abbrev=False,
        description="Read, check and lower LLVM's debug information extensions.",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, words in _ACTIONS.items():
        action = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        action.add_argument("file", metavar="FILE", help="LLVM assembly (.ll), or bitcode where llvm-dis is installed")
        if name == "explain":
            action.add_argument(
                "name", metavar="NAME", nargs="?", default="", help="the name of a variable, or a fragment such as "
                "!12; by default, all objects"
            )
        if name == "lower":
            action.add_argument("--dialect", choices=DIALECTS, default="amd", help="how the extensions are encoded")
            action.add_argument("--places", metavar="FILE.toml", help="where registers and stack slots are")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run the tool; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        found = report(
            options.action, options.file, getattr(options, "name", ""), getattr(options, "dialect", "amd"),
            getattr(options, "places", None),
        )
    except Error as error:
        complain(visible(str(error)))
        return 1
    out = tool_output()
    for line in found.lines:
        out.line(visible(line))
    out.flush()
    return 0 if found.is_good and out.failure is None else 1
