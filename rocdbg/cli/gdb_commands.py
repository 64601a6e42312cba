"""The commands of GDB 13: their names by the classes of its help, which of them do not apply here, and why.

If an abbreviation could mean a command of GDB or one of ours, GDB's takes precedence.
"""

from __future__ import annotations

from functools import cache

_COMMANDS = {
    "breakpoints": """
        awatch; break; break-range; catch; catch assert; catch catch; catch exception; catch exec; catch fork; catch
        handlers; catch load; catch rethrow; catch signal; catch syscall; catch throw; catch unload; catch vfork;
        clear; commands; condition; delete; delete bookmark; delete breakpoints; delete checkpoint; delete display;
        delete mem; delete tracepoints; delete tvariable; disable; disable breakpoints; disable display; disable
        frame-filter; disable mem; disable pretty-printer; disable probes; disable type-printer; disable unwinder;
        disable xmethod; dprintf; enable; enable breakpoints; enable breakpoints count; enable breakpoints delete;
        enable breakpoints once; enable count; enable delete; enable display; enable frame-filter; enable mem;
        enable once; enable pretty-printer; enable probes; enable type-printer; enable unwinder; enable xmethod;
        ftrace; hbreak; ignore; rbreak; rwatch; save; save breakpoints; save gdb-index; save tracepoints; skip; skip
        delete; skip disable; skip enable; skip file; skip function; strace; tbreak; tcatch; tcatch assert; tcatch
        catch; tcatch exception; tcatch exec; tcatch fork; tcatch handlers; tcatch load; tcatch rethrow; tcatch
        signal; tcatch syscall; tcatch throw; tcatch unload; tcatch vfork; thbreak; trace; watch
    """,
    "data": """
        agent-printf; append; append binary; append binary memory; append binary value; append memory; append value;
        call; disassemble; display; dump; dump binary; dump binary memory; dump binary value; dump ihex; dump ihex
        memory; dump ihex value; dump memory; dump srec; dump srec memory; dump srec value; dump tekhex; dump tekhex
        memory; dump tekhex value; dump value; dump verilog; dump verilog memory; dump verilog value; explore;
        explore type; explore value; find; init-if-undefined; mem; memory-tag; memory-tag check; memory-tag
        print-allocation-tag; memory-tag print-logical-tag; memory-tag set-allocation-tag; memory-tag
        with-logical-tag; output; print; print-object; printf; ptype; restore; set; set variable; undisplay; whatis;
        with; x
    """,
    "files": """
        add-symbol-file; add-symbol-file-from-memory; cd; core-file; directory; edit; exec-file; file;
        forward-search; generate-core-file; list; load; nosharedlibrary; path; pwd; remote; remote delete; remote
        get; remote put; remove-symbol-file; reverse-search; section; sharedlibrary; symbol-file
    """,
    "internals": """
        maintenance
    """,
    "obscure": """
        bookmark; checkpoint; compare-sections; compile; compile code; compile file; compile print; complete;
        flash-erase; goto-bookmark; guile; guile-repl; jit-reader-load; jit-reader-unload; monitor;
        python; python-interactive; record; record btrace; record btrace bts; record btrace pt;
        record delete; record full; record full restore; record function-call-history; record goto; record goto
        begin; record goto end; record instruction-history; record save; record stop; restart; stop
    """,
    "running": """
        add-inferior; advance; attach; clone-inferior; continue;
        detach; detach checkpoint; detach inferiors; disconnect; finish; handle;
        inferior; interrupt; jump; kill; kill inferiors; next; nexti; queue-signal; reverse-continue;
        reverse-finish; reverse-next; reverse-nexti; reverse-step; reverse-stepi; run; signal; start; starti; step;
        stepi; taas; target; target core; target ctf; target exec; target extended-remote; target native; target
        record-btrace; target record-core; target record-full; target remote; target tfile; task; task apply; task
        apply all; tfaas; thread; thread apply; thread apply all; thread find; thread name; tty; until
    """,
    "stack": """
        backtrace; down; faas; frame; frame address; frame apply; frame apply all; frame apply level; frame
        function; frame level; frame view; return; select-frame; select-frame address; select-frame function;
        select-frame level; select-frame view; up
    """,
    "status": """
        info; info address; info all-registers; info args; info auto-load; info auto-load gdb-scripts; info
        auto-load libthread-db; info auto-load local-gdbinit; info auto-load python-scripts; info auxv; info
        bookmarks; info breakpoints; info checkpoints; info classes; info common; info connections; info copying;
        info dcache; info display; info exceptions; info extensions; info files; info float; info frame; info frame
        address; info frame function; info frame level; info frame view; info frame-filter; info functions; info
        guile; info inferiors; info line; info locals; info macro; info macros; info mem; info module; info module
        functions; info module variables; info modules; info os; info pretty-printer; info probes; info probes all;
        info probes dtrace; info probes stap; info proc; info proc all; info proc cmdline; info proc cwd; info proc
        exe; info proc files; info proc mappings; info proc stat; info proc status; info program; info record; info
        registers; info scope; info selectors; info sharedlibrary; info signals; info skip; info source; info
        sources; info stack; info static-tracepoint-markers; info symbol; info target; info tasks; info terminal;
        info threads; info tracepoints; info tvariables; info type-printers; info types; info unwinder; info
        variables; info vector; info vtbl; info warranty; info watchpoints; info win; info xmethod; macro; macro
        define; macro expand; macro expand-once; macro list; macro undef; show; show copying; show paths; show warranty
    """,
    "support": """
        add-auto-load-safe-path; add-auto-load-scripts-directory; alias; apropos; define; define-prefix; demangle;
        document; dont-repeat; down-silently; echo; eval; help; if; interpreter-exec; make; new-ui; overlay; overlay
        auto; overlay list-overlays; overlay load-target; overlay manual; overlay map-overlay; overlay off; overlay
        unmap-overlay; pipe; quit; shell; source; up-silently; while
    """,
    "text-user-interface": """
        +; -; <; >; tui; tui disable; tui enable; tui focus; tui layout; tui layout asm; tui layout next; tui layout
        prev; tui layout regs; tui layout split; tui layout src; tui new-layout; tui refresh; tui reg; tui window;
        tui window height; tui window width; update
    """,
    "tracepoints": """
        actions; collect; end; passcount; tdump; teval; tfind; tfind end; tfind line; tfind outside; tfind pc; tfind
        range; tfind start; tfind tracepoint; tsave; tstart; tstatus; tstop; tvariable; while-stepping
    """,
}
_OTHER_NAMES = """
    backtrace: where, bt; break: brea, bre, br, b; clear: cl; compile: expression; continue: fg, c; delete: del, d;
    delete tracepoints: delete tr; disable: disa, dis; down: dow, do; enable: en; finish: fin; forward-search: fo,
    search; frame: f; generate-core-file: gcore; guile: gu; guile-repl: gr; help: h; info: inf, i; info
    breakpoints: info b; info frame: info f; info guile: info gu; info record: info rec; info registers: info r;
    info sharedlibrary: info dll; info signals: info handle; info stack: info s; info tracepoints: info tp; jump:
    j; list: l; macro expand: macro exp; macro expand-once: macro exp1; maintenance: mt; next: n; nexti: ni;
    overlay: ov, ovly; pipe: |; print: inspect, p; print-object: po; python: py; python-interactive: pi; quit:
    exit, q; record: rec; record btrace: record b; record btrace bts: record bts; record btrace pt: record pt;
    record delete: record del, record d; record goto begin: record goto start; record stop: record s;
    reverse-continue: rc; reverse-next: rn; reverse-nexti: rni; reverse-search: rev; reverse-step: rs;
    reverse-stepi: rsi; run: r; set variable: set var; shell: !; show: info set; step: s; stepi: si; tfind end:
    tfind none; thread: t; trace: trac, tra, tr, tp; tui focus: fs, focus; tui layout: layout; tui refresh:
    refresh; tui window height: wh, winheight; tui window width: winwidth; until: u; while-stepping: stepping, ws;
    with: w
"""
HELP_TOPICS = (
    "aliases", "breakpoints", "data", "files", "internals", "obscure", "running", "stack", "status", "support",
    "text-user-interface", "tracepoints", "user-defined",
)
"""Names of classes of commands, which GDB includes in the candidates for an abbreviation."""
OWN_SETTINGS = frozenset({
    "arg", "count-uninitialized", "gpu", "grid", "instruction-budget", "kernarg", "kernel", "launch",
    "lds-out-of-range", "skip-runtime-kernels", "stack-size", "workgroup",
})
"""Words after `set` and `show` that rocdbg has and GDB does not."""

GDB_COMMANDS: dict[str, list[str]] = {
    name: [" ".join(part.split()) for part in text.split(";")] for name, text in _COMMANDS.items()
}


def _other_names() -> dict[str, tuple[str, ...]]:
    rows = (part.split(":") for part in " ".join(_OTHER_NAMES.split()).split(";"))
    return {name.strip(): tuple(other.strip() for other in others.split(",")) for name, others in rows}


OTHER_NAMES = _other_names()
"""The aliases of a command, in the order in which help lists them."""


@cache
def gdb_names() -> frozenset[str]:
    """Return the full names of all of GDB's commands."""
    every = [name for names in GDB_COMMANDS.values() for name in names]
    return frozenset([*every, *(other for others in OTHER_NAMES.values() for other in others)])


_ONE_PROCESS = "there is only one inferior, the simulated device"
_NO_PROCESS = "kernels run on a simulated device, not in a host process"
_NO_REMOTE = "the target is part of rocdbg, which does not connect to any other target"
_MARKERS = "kernels have no static tracepoint markers"
_PYTHON = "rocdbg is extended by plug-ins (help plugin), not by scripts inside a session"
_COMPILE = "code cannot be compiled into a running kernel"
_RECORD = "use the reverse commands, last-write and first-write to examine a recording"
_LANGUAGE = "this command is for a language that kernels are not written in"
NOT_APPLICABLE = {
    "add-auto-load-scripts-directory": "rocdbg does not load scripts for libraries",
    "add-inferior": _ONE_PROCESS,
    "add-symbol-file-from-memory": "a code object contains its own symbols",
    "agent-printf": _NO_REMOTE,
    "attach": _NO_PROCESS,
    "bookmark": "use checkpoints instead (checkpoint, restart, info checkpoints)",
    "break-range": "only PowerPC hardware has such breakpoints",
    "catch assert": _LANGUAGE,
    "catch handlers": _LANGUAGE,
    "catch signal": 'use "catch exception", which catches exceptions of kernels by kind',
    "clone-inferior": _ONE_PROCESS,
    "compile": _COMPILE,
    "core-file": _NO_PROCESS,
    "delete bookmark": "use checkpoints instead (checkpoint, restart, info checkpoints)",
    "delete mem": "rocdbg knows which memory the device has",
    "disable frame-filter": _PYTHON,
    "disable mem": "rocdbg knows which memory the device has",
    "disable pretty-printer": _PYTHON,
    "disable probes": "code objects have no probes",
    "disable type-printer": _PYTHON,
    "disable unwinder": _PYTHON,
    "disable xmethod": _PYTHON,
    "disconnect": _NO_REMOTE,
    "enable frame-filter": _PYTHON,
    "enable mem": "rocdbg knows which memory the device has",
    "enable pretty-printer": _PYTHON,
    "enable probes": "code objects have no probes",
    "enable type-printer": _PYTHON,
    "enable unwinder": _PYTHON,
    "enable xmethod": _PYTHON,
    "explore": _PYTHON,
    "frame view": "a wave's registers determine where its frames are",
    "ftrace": "every tracepoint is a fast one; use trace",
    "generate-core-file": _NO_PROCESS,
    "goto-bookmark": "use checkpoints instead (checkpoint, restart, info checkpoints)",
    "guile": "there is no Guile in rocdbg",
    "guile-repl": "there is no Guile in rocdbg",
    "detach checkpoint": "checkpoints are moments of the recording, not processes",
    "info auto-load libthread-db": "rocdbg does not load such files automatically",
    "info auto-load python-scripts": "rocdbg does not load such files automatically",
    "info auxv": _NO_PROCESS,
    "info bookmarks": "use checkpoints instead (checkpoint, restart, info checkpoints)",
    "info classes": "it exists for Objective-C",
    "info connections": _NO_REMOTE,
    "info copying": "see the LICENSE file of rocdbg",
    "info dcache": "rocdbg reads the simulated device's memory directly, without a cache",
    "info exceptions": _LANGUAGE,
    "info extensions": _LANGUAGE,
    "info float": "the floating-point state is in $mode and $trapsts",
    "info frame-filter": _PYTHON,
    "info guile": "there is no Guile in rocdbg",
    "info mem": "rocdbg knows which memory the device has",
    "info module": _LANGUAGE,
    "info modules": _LANGUAGE,
    "info os": _NO_PROCESS,
    "info pretty-printer": _PYTHON,
    "info probes": "code objects have no probes",
    "info proc": _NO_PROCESS,
    "info selectors": "it exists for Objective-C",
    "info static-tracepoint-markers": _MARKERS,
    "info tasks": _LANGUAGE,
    "info terminal": _NO_PROCESS,
    "info type-printers": _PYTHON,
    "info unwinder": _PYTHON,
    "info vector": "vector registers are $v0, $v1...",
    "info warranty": "see the LICENSE file of rocdbg",
    "info xmethod": _PYTHON,
    "interpreter-exec": "rocdbg has only this one interpreter",
    "flash-erase": _NO_REMOTE,
    "jit-reader-load": _NO_PROCESS,
    "jit-reader-unload": _NO_PROCESS,
    "mem": "rocdbg knows which memory the device has",
    "memory-tag": "the device's memory has no tags",
    "monitor": _NO_REMOTE,
    "new-ui": "rocdbg has only this one user interface",
    "nosharedlibrary": "the symbols of single code objects cannot be discarded",
    "overlay": "code objects have no overlays",
    "path": _NO_PROCESS,
    "show copying": "see the LICENSE file of rocdbg",
    "show paths": _NO_PROCESS,
    "show warranty": "see the LICENSE file of rocdbg",
    "tty": _NO_PROCESS,
    "print-object": "it exists for Objective-C",
    "python-interactive": _PYTHON,
    "queue-signal": _NO_PROCESS,
    "record btrace": _RECORD,
    "record function-call-history": _RECORD,
    "record instruction-history": _RECORD,
    "remote": _NO_REMOTE,
    "remove-symbol-file": "a code object contains its own symbols",
    "save gdb-index": "rocdbg creates indexes when they are needed, and caches them (docs/cache.md)",
    "section": "the loader determines the addresses of a code object's sections",
    "sharedlibrary": "the symbols of all code objects are read automatically",
    "stop": "it exists only so that you can define hook-stop",
    "strace": _MARKERS,
    "target": _NO_REMOTE,
    "task": _LANGUAGE,
    "tcatch assert": _LANGUAGE,
    "tcatch handlers": _LANGUAGE,
    "tcatch signal": 'use "catch exception", which catches exceptions of kernels by kind',
    "tsave": "use Debugger.traced in a Python program to get the collected data",
}
"""Reasons why commands do not apply here; the reason for a prefix covers the commands below it."""


def reason_against(name: str) -> str | None:
    """Return why a GDB command does not apply here; None if it does."""
    words = name.split()
    for count in range(len(words), 0, -1):
        reason = NOT_APPLICABLE.get(" ".join(words[:count]))
        if reason is not None:
            return reason
    return None
