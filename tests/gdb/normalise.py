"""Replaces text that must differ between a program on the host and a kernel on the device by the same text.

Nothing else is touched: every other difference between the two debuggers' answers counts.
"""

from __future__ import annotations

import re

from tests.gdb.build import HERE, PROGRAMS

NO_DEBUG_INFORMATION = re.compile(r"\n?Non-debugging symbols:\n.*", re.DOTALL)
"""The symbols of the host's C library and start-up code in `info functions` and similar commands."""
RULES: list[tuple[str, str]] = [
    # the program's start and end, and the tool's remarks on threads
    (r"(?m)^Starting (program: .*|kernel .*)$", "Starting ..."),
    (r"(?m)^\[Inferior 1 \(.*?\) ", "[Inferior 1 (...) "),
    (r"(?m)^\[Thread debugging using libthread_db enabled\]\n", ""),
    (r"(?m)^Using host libthread_db library .*\n", ""),
    (r"(?m)^\[Switching to .*\]\n", ""),
    (r"(?m)^(\tUsing the running image of child) .*\.$", r"\1 ..."),
    (r'(?m)^(?:Thread 1 "kern" hit )((?:Temporary b|B)reakpoint \d+(?:\.\d+)?)(, with lane 0)?', r"\1"),
    (r'(?m)^Thread 1 "kern" hit ((?:Hardware [a-z/() ]*w|W)atchpoint \d+: )', r"\1"),
    (r"(?m)^By lane 0: `.*\n", ""),
    (r'(?m)^(Thread 1 "kern"|Program) (received signal|stopped)', r"Program \2"),
    # OpenCL kernels are compiled twice, and one calls the other on the host
    (r"\b__clang_ocl_kern_imp_", ""),
    # the program's file
    (r"(?m)^(?:/\S*/)?(\w+)\.co:$", r"\1:"),
    # closures: numbered in their unit on the host, by scope and parameters where a device needs them too
    (r"\{lambda\([^()]*\)#\d+\}|\$_\d+(?=::|[&>,])", "<closure>"),
    # who evaluates a condition: on the host that is GDB, which does not say so
    (r"auto \(currently (?:target|host)\)", "auto (...)"),
    (r"(?m)^(\tstop only if .*) \((?:target|host) evals\)$", r"\1"),
    # questions that nobody can answer: GDB shows them where commands come from a pipe
    (r"(?m)^The program being debugged has been started already\.\n", ""),
    (r"(?m)^(SIG\w+ is used by the debugger|A program is being debugged already)\.\n", ""),
    (r"(?m)^.*\(y or n\) \[answered Y; input not from terminal\]\n", ""),
    # names of things
    (r"\brocdbg\b|\bGDB\b|\bGdb\b|rocdbg(?=_history|init)", "gdb"),
    (r'(?s)(gdb\'s prompt is) ".*"', r'\1 "..."'),  # the recorder's own
    (r"\brip\b", "pc"),
    (r"(Previous frame's sp in) (rsp|s32)\b", r"\1 ..."),
    (r"future shared library load", "future code object load"),
    # addresses: those of the host (position-independent, no randomisation), of the device, of unloaded code
    (r"\b(generic|private_lane|private_wave|local|region|global)#0x0\b", "0x0"),
    (r"\bgeneric#(0x[0-9a-f]{1,9}|0x[0-9a-f]{16})\b", r"\1"),  # a number in a pointer: nothing is there
    (r"\b(generic|private_lane|private_wave|local|region|global)#0x[0-9a-f]+", "ADDRESS"),
    (r"\b0x[0-9a-f]+(?= (<[\w:~]|is in |\"))", "ADDRESS"),
    (r"\b0x0000[0-9a-f]{12}\b", "ADDRESS"),
    (r"\b0x(5555|7ff[0-9a-f]|7f00)[0-9a-f]{8}\b", "ADDRESS"),
    (r"\b0x20000[0-9a-f]{8}\b", "ADDRESS"),  # the aperture of private memory
    (r"(reakpoint \d+ at |at pc |address(?:es)? |\bat |\bto |range of PC |is )0x[0-9a-f]+\b", r"\1ADDRESS"),
    (r"(?m)(ADDRESS <[^<>\n]*?)\+\d+>(?= and| but|\.|[ \t]*$)", r"\1+N>"),
    # what is after a class's own table of virtual functions
    (r"(_vptr\$\w+ = ADDRESS) <(?:VTT|construction vtable) for [^>]*>", r"\1 <...>"),
    # the frame base, and the files that a symbol can be in
    (r"frame base reg \$\w+ offset 0\+-?\d+", "frame base reg $... offset 0+..."),
    (r"(?m)( in section \.\w+) of \S+$", r"\1"),
    # `info frame`: how the frame was unwound, and where which register is
    (r"(?m)^ unwound by .*\n", ""),
    (r"saved pc = .*", "saved pc = ..."),
    (r"(?m)^ (Arglist|Locals) at [^,\n]*, ", r" \1 at ..., "),
    (r"(?ms)^ Saved registers:\n(  [^\n]*\n)+", ""),
]
COMPILED = [(re.compile(pattern), replacement) for pattern, replacement in RULES]


def normalise(text: str) -> str:
    """An answer without the parts that the two sides cannot share."""
    for folder, name in ((PROGRAMS, "<programs>"), (HERE, "<tests>")):
        text = text.replace(str(folder), name)
    text = NO_DEBUG_INFORMATION.sub("", text)
    for pattern, replacement in COMPILED:
        text = pattern.sub(replacement, text)
    return text
