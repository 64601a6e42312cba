"""The shell: a session, its commands, and its input and output text.

It runs lines and scripts in the same way for every front end: the prompt, ``-ex``, ``source``, the Python API. A
`rocdbg.Error` ends a command, but never the shell. Any other exception is a bug: it becomes an `InternalError` in a
session with a user, and passes through elsewhere, so that tests and programs see it.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.cli.autoloaded_files import AutoLoad
from rocdbg.cli.command_registry import WORD, CommandError, CommandSpec, Registry, Repeat, Saved
from rocdbg.cli.commands import add_all
from rocdbg.cli.commands.scripting import check_head, run_block_command
from rocdbg.cli.displays import Displays
from rocdbg.cli.dprintf_output import print_dynamically
from rocdbg.cli.host_commands import concerns_host, run_on_host
from rocdbg.cli.internal_errors import ResourceError, as_error
from rocdbg.cli.leaving_commands import LoopBreak, LoopContinue
from rocdbg.cli.paths import expand
from rocdbg.cli.plugin_shell import PluginShell
from rocdbg.cli.program_output import show_output
from rocdbg.cli.script import Block, Line, ScriptError, Statement, numbered, parse, read_script
from rocdbg.cli.session_theme import Look
from rocdbg.cli.settings.gdb_setting_functions import add_setting_functions
from rocdbg.cli.shell_state import ShellState
from rocdbg.cli.signal_table import SignalTable
from rocdbg.cli.user_commands import AFTER, BEFORE, run_hook
from rocdbg.cli.writer import Writer
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import ControlFlow, DebuggerError, NotRunningError
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.interrupts import Signals
    from rocdbg.cli.screen.screen import Screen
    from rocdbg.debugger.base.focus import Focus
    from rocdbg.debugger.plugin_host import Plugin
    from rocdbg.debugger.running.stop_events import StopEvent
    from rocdbg.debugger.session import Session

MAX_SOURCE_DEPTH = 50
MAX_CALL_DEPTH = 1024
"""The maximum depth of nested calls of user-defined commands; `set max-user-call-depth` can lower it."""
ARGUMENT = re.compile(r"\$arg(c|\*|[0-9]+)")


class Shell:
    """Runs command lines against one `Session`.

    Attributes:
        session: the engine.
        out: what commands write to.
        err: where errors and warnings go.
        registry: the commands; a registry passed from another shell is shared, including later additions.
        interactive: whether a user can be asked (`confirm`).
        can_colour: whether the output is a terminal that can show colours (`set style enabled` turns them on).
        settings: settings of the text front end (``confirm``, ``pagination``, ...).
        reports_internal_errors: whether a bug ends only the command, with a message; otherwise it is raised.
        state: the state of running lines, `ShellState`.
    """

    def __init__(
        self,
        session: Session,
        out: Writer | None = None,
        err: Writer | None = None,
        interactive: bool = False,
        registry: Registry | None = None,
    ) -> None:
        self.session: Session = session
        self.out: Writer = out or Writer(sys.stdout)
        self.err: Writer = err or Writer(sys.stderr)
        self.interactive = interactive
        self.can_colour = self.out.colour
        self.registry = registry or Registry()
        self.settings: dict[str, object] = {}
        self.program_out: Writer | None = None  # for what kernels print, unless it goes to the output of commands
        self.look = Look()  # what is known about the terminal
        self.typed_ahead = b""  # what the user typed while the terminal was queried
        self.answers = True  # whether the terminal answers queries
        self.reports_internal_errors = False
        self.state = ShellState()
        self.signals: Signals | None = None  # the handler of Ctrl-C; `None` if another program handles it
        self.screen: Screen | None = None  # the full-screen mode, once requested
        self.auto_load: AutoLoad = AutoLoad(self)
        self.out.failed = self.warn
        self.ask: Callable[[str], str] | None = None
        self.displays = Displays()
        self._signal_table: SignalTable | None = None
        self.environment: dict[str, str] | None = None  # the variables of `set environment`, if it was used
        self._replaced: dict[object, Saved] = {}  # by plug-in command: the commands that had its names before
        session.running.watch_inside(partial(print_dynamically, self), self._stopped_inside)
        session.launch.output = partial(show_output, self)
        session.plugins.command_added = self._add_plugin_command
        session.plugins.command_removed = self._remove_plugin_command
        session.launch.ask = self.confirm
        session.program_launch.environment = lambda: dict(os.environ if self.environment is None else self.environment)
        if registry is None:
            add_all(self.registry)
        add_setting_functions(self)

    @property
    def signal_table(self) -> SignalTable:
        """How signals are handled."""
        if self._signal_table is None:
            self._signal_table = SignalTable()
        return self._signal_table

    def goes_on(self, event: StopEvent) -> bool:
        """Whether a stop is caused by a signal for which the user does not want to stop."""
        return (
            event.signal is not None and self._signal_table is not None
            and not self._signal_table.rows[event.signal.name].stops and self.session.inferior.running
        )

    def at(self, focus: Focus) -> Shell:
        """Return the same shell with another focus, from which its commands use the session (`Session.at`)."""
        other = copy(self)
        other.session = self.session.at(focus)
        return other

    # -- writing

    def write(self, text: str) -> None:
        """Write text to the command's output."""
        self.out.write(text)

    def line(self, text: str = "") -> None:
        """Write a line to the command's output."""
        self.out.line(text)

    def warn_of_texts(self) -> None:
        """Warn, before source texts are shown, about those that differ from the texts that were compiled."""
        for warning in self.session.sources.warnings.take():
            self.warn(warning)

    def warn(self, message: str) -> None:
        """Write ``warning: MESSAGE`` to the error output."""
        self.out.flush()
        self.err.line(f"warning: {message}")
        self.err.flush()

    def report(self, error: Error) -> None:
        """Print an error in one line. An error without a message ends a command silently: nothing is printed."""
        self.out.flush()
        if str(error):
            self.err.line(str(error))
        self.err.flush()

    def quit_command(self) -> None:
        """Report that Ctrl-C ended a command, and reset the state of running lines."""
        self.state.arguments.clear()
        self.state.source_depth = self.state.loops = self.state.depth = 0
        self.state.verbose = False
        self.state.hooks_running.clear()
        self.state.queue = iter(())
        self.state.draining = False
        self.out.restore()
        self.err.restore()
        self.guard(self.session.running.recover, "recovering")
        self.err.line("Quit")
        self.err.flush()

    def confirm(self, question: str, unless: bool = False) -> bool:
        """Ask a yes/no question; the answer is yes without a user or with ``set confirm off``.

        With ``unless``, the answer is no in these cases, and for empty input.
        """
        if not self.interactive or self.ask is None or self.settings.get("confirm") is False:
            return not unless
        choice = "y or [n]" if unless else "y or n"
        head, newline, last = question.rpartition("\n")
        self.write(head + newline)
        while True:
            try:
                answer = self.ask(f"{last} ({choice}) ").strip().lower()
            except EOFError:
                self.line(f"EOF [assumed {'N' if unless else 'Y'}]")
                return not unless
            if answer in ("y", "yes"):
                return True
            if answer in ("n", "no") or (unless and not answer):
                return False
            self.line(f"Please answer {choice}.")

    @contextmanager
    def terminal_lent(self) -> Iterator[None]:
        """Return a context manager in whose block another program can use the terminal: the full-screen mode is
        suspended.
        """
        terminal = self.screen.terminal if self.screen is not None and self.screen.enabled else None
        if terminal is None:
            yield
            return
        terminal.pause()
        try:
            yield
        finally:
            terminal.resume()

    # -- running lines

    def execute(self, text: str) -> None:
        """Run one or more lines. Raises `rocdbg.Error` if one fails; the lines before it have taken effect."""
        self.run_lines(numbered(text))

    def run_lines(self, lines: Iterator[Line], file: str = "") -> None:
        """Run the statements of a script; the first error ends it."""
        for statement in parse(lines, file, self.check_block):
            self.run_statement(statement)

    def check_block(self, head: str) -> None:
        """Let a block command check its head before its block is read. Raises `CommandError`."""
        check_head(self, head)

    def run_statement(self, statement: Statement) -> None:
        """Run one command or block."""
        if isinstance(statement, Block):
            self._trace(statement.head.text)
            self._run_block(statement)
        else:
            self.run_line(statement.text)

    def _trace(self, line: str) -> None:
        """Show a line before it runs, if that is enabled."""
        if self.state.verbose or self.settings.get("trace-commands"):
            self.line("+" * (self.state.depth + 1) + line)

    def run_line(self, line: str, repeatable: bool = False) -> None:
        """Run one command line. Warnings that the engine has collected are shown after it."""
        if self.state.arguments:
            line = self.substitute(line)
        if "\0" in line:
            raise DebuggerError("A command line cannot have a null character in it.")
        self._trace(line)
        resolved = self.registry.find(line)
        if repeatable:
            self.state.previous, self.state.last = self.state.last, (resolved.spec, resolved.text)
        hooked = self.registry.hooks
        self.state.after_hooks.append(resolved.spec.words if hooked else None)
        try:
            if hooked:
                run_hook(self, BEFORE, resolved.spec.words)
            if concerns_host(self, resolved.spec):
                self._contain(lambda: run_on_host(self, resolved.spec, resolved.text), line)
            else:
                self._contain(lambda: resolved.spec.handler(self, resolved.text), line)
            self.run_after_hook()
        finally:
            self.state.after_hooks.pop()
            self.warn_of_texts()
            for warning in self.session.warnings.take():
                self.warn(warning)

    def run_after_hook(self) -> None:
        """Run the hookpost of the current command, once."""
        words, self.state.after_hooks[-1] = self.state.after_hooks[-1], None
        if words is not None:
            run_hook(self, AFTER, words)

    def _contain(self, action: Callable[[], object], what: str) -> None:
        """Perform an action; a bug in it is raised unchanged, or in an interactive session as an `Error`."""
        if not self.reports_internal_errors:
            action()
            return
        try:
            action()
            return
        except (Error, ControlFlow, KeyboardInterrupt):
            raise
        except MemoryError:
            report = as_error(MemoryError(), what)
        except RecursionError:
            report = as_error(RecursionError(), what)
        except BaseException as error:
            if self.signals is not None and self.signals.raised:
                raise KeyboardInterrupt from None
            report = as_error(error, what)
        # outside the handlers, the objects that the traceback held have been freed, so memory is available again
        if isinstance(report, ResourceError):
            gc.collect()  # an unfinished machine and its memory reference each other
        raise report

    def repeat_last(self) -> None:
        """Run an empty line: repeat the last command, according to its declaration."""
        if self.state.last is None or self.state.last[0].repeat is Repeat.NEVER:
            return
        spec, text = self.state.last
        self.run_line(spec.name if spec.repeat is Repeat.BARE else self.joined(spec, text))

    def last_line(self) -> str:
        """Return the command before the current one. Raises `CommandError` if there is none."""
        previous = self.state.previous
        if previous is None:
            raise CommandError("No previous command to relaunch")
        return self.joined(*previous)

    @staticmethod
    def joined(spec: CommandSpec, text: str) -> str:
        """Return the line that consists of a command and its text."""
        return spec.name + (text if text.startswith("/") else f" {text}" if text else "")

    def run_guarded(self, statement: Statement, repeatable: bool = False) -> bool:
        """Run a statement; report an error instead of raising it. Return whether it succeeded."""
        self.state.interrupted = False

        def run() -> None:
            if isinstance(statement, Line):
                self.run_line(statement.text, repeatable)
            else:
                self.run_statement(statement)

        return self.guard(run, "")

    def guard(self, action: Callable[[], object], what: str) -> bool:
        """Perform an action; report an error instead of raising it. Return whether it succeeded. ``what`` is used in
        reports of bugs.
        """
        try:
            self._contain(action, what)
        except Error as error:
            self.report(error)
            return False
        finally:
            self.out.flush()
        return True

    def source(self, path: str | Path, verbose: bool = False) -> None:
        """Run a file of commands. Raises `ScriptError` if it cannot be read, or if a command fails, with its position.
        """
        path = expand(path)
        if self.state.source_depth >= MAX_SOURCE_DEPTH:
            raise ScriptError("command files source each other without end", str(path))
        text = read_script(path)
        self.state.source_depth += 1
        was_verbose, self.state.verbose = self.state.verbose, verbose
        try:
            for statement in parse(numbered(text), str(path), self.check_block):
                head = statement if isinstance(statement, Line) else statement.head
                try:
                    self.run_statement(statement)
                except ScriptError:
                    raise
                except Error as error:
                    raise ScriptError(
                        f"Error in sourced command file:\n{error}", str(path), head.number
                    ) from error
        finally:
            self.state.source_depth -= 1
            self.state.verbose = was_verbose

    @property
    def typed(self) -> bool:
        """Whether the current command was given directly, not by a breakpoint's commands or a user-defined one."""
        return not self.state.draining and not self.state.arguments

    @property
    def at_prompt(self) -> bool:
        """Whether the command was also given outside blocks and scripts: GDB prints some messages only there."""
        state = self.state
        return self.typed and not state.depth and not state.source_depth and not state.batch

    # -- preconditions, in GDB's words

    def need_running(self) -> None:
        """Raise an error unless a program is being run."""
        if not self.session.inferior.running:
            raise NotRunningError

    def need_stack(self) -> None:
        """Check `need_running`, for commands about frames."""
        if not self.session.inferior.running:
            raise NotRunningError("No stack.")

    def need_frame(self) -> None:
        """Check `need_running`, for commands about a frame's variables."""
        if not self.session.inferior.running:
            raise NotRunningError("No frame selected.")

    def need_threads(self) -> None:
        """Check `need_running`, for commands about waves and lanes."""
        if not self.session.inferior.running:
            raise NotRunningError("No thread selected")

    # -- stops

    def _stopped_inside(self, event: StopEvent) -> None:
        """Show that a function called by an expression has stopped; the expression's error follows."""
        from rocdbg.cli.stop_messages import show_stop

        kept, outermost = self.displays, not self.state.stopped_inside
        if not outermost:  # a display called the function, which would stop there again and again
            self.displays = Displays()
        self.state.stopped_inside = True
        try:
            show_stop(self, event)
        finally:
            self.displays, self.state.stopped_inside = kept, not outermost
        self.state.last_hits = event.breakpoints

    def after_stop(self, event: StopEvent) -> None:
        """Run the `commands` of the breakpoints that were hit.

        If one of them resumes the program, the remaining ones are dropped. Those of the next stop are then run by the
        loop of the outermost call, so that a breakpoint that always continues does not nest endlessly.
        """
        self.state.last_hits = event.breakpoints
        lines = [line for body in event.commands for line in (body[1:] if body[:1] == ("silent",) else body)]
        self.state.queue = parse(numbered("\n".join(lines)))
        if self.state.draining:
            return
        self.state.draining = True
        try:
            while (statement := next(self.state.queue, None)) is not None:
                self.run_statement(statement)
        finally:
            self.state.draining = False
            self.state.queue = iter(())

    @staticmethod
    def is_silent(event: StopEvent) -> bool:
        """Whether the `commands` of all breakpoints that were hit begin with `silent`."""
        return bool(event.commands) and all(body[:1] == ("silent",) for body in event.commands)

    def show_displays(self) -> None:
        """Show all `display` expressions that have a meaning at the focus."""
        self.displays.show(self)

    def _add_plugin_command(self, plugin: Plugin, handler: object) -> None:
        """Add a plug-in's command: a function declared with `command`. Faults in it cause one warning."""
        spec = getattr(handler, "command_spec", None)
        if not isinstance(spec, CommandSpec):
            raise DebuggerError(f"{plugin.name} registers a command that is not declared with @command.")
        names = (spec.words, *spec.aliases)
        if not all(words and all(map(WORD.fullmatch, words)) for words in names):
            raise DebuggerError(f"{plugin.name} registers a command by a name that cannot be typed.")
        host = self.session.plugins

        def guarded(shell: Shell, text: str) -> None:
            host.call(plugin, f"command {spec.name}", lambda: spec.handler(PluginShell(shell), text))

        self._replaced[handler] = self.registry.saved(spec)
        self.registry.add(replace(spec, handler=guarded))

    def _remove_plugin_command(self, handler: object) -> None:
        """Remove a plug-in's command, and restore the command that it replaced."""
        saved = self._replaced.pop(handler, None)
        if saved is not None:
            self.registry.restore(saved)

    # -- blocks

    def _run_block(self, block: Block) -> None:
        if block.keyword == "if":
            self._run_body(block.body if self._truth(block.argument) else block.otherwise)
        elif block.keyword == "while":
            self.state.loops += 1
            try:
                while self._truth(block.argument):
                    with suppress(LoopContinue):
                        self._run_body(block.body)
                    if self.state.interrupted:
                        raise KeyboardInterrupt
            except LoopBreak:
                pass
            finally:
                self.state.loops -= 1
        else:
            # `define`, `document`, `commands` and `python` take the block as their input
            run_block_command(self, block)

    def _run_body(self, body: Iterable[Statement]) -> None:
        self.state.depth += 1
        try:
            for statement in body:
                self.run_statement(statement)
        finally:
            self.state.depth -= 1

    def _truth(self, expression: str) -> bool:
        if not expression:
            raise ScriptError("if/while commands require arguments.")
        return self.session.data.truth(self.substitute(expression))

    # -- user-defined commands

    def call(self, body: Iterable[Statement], arguments: list[str]) -> None:
        """Run a user-defined command's body with `$arg0`, `$argc`, ... replaced by its arguments."""
        depth = len(self.state.arguments)
        if depth >= min(MAX_CALL_DEPTH, int(str(self.settings.get("max-user-call-depth", 0))) or MAX_CALL_DEPTH):
            raise ScriptError("Max user call depth exceeded -- command aborted.")
        if depth % 8 == 0:
            sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000 + 30 * depth))
        self.state.arguments.append(arguments)
        loops, self.state.loops = self.state.loops, 0
        try:
            self._run_body(body)
        finally:
            self.state.arguments.pop()
            self.state.loops = loops

    def substitute(self, line: str) -> str:
        """Replace `$argc`, `$argN` and `$arg*` in a line with the current user-defined command's arguments.

        Raises `ScriptError` for an argument that was not given.
        """
        if not self.state.arguments or "$arg" not in line:
            return line
        arguments = self.state.arguments[-1]

        def text(found: re.Match[str]) -> str:
            if found[1] == "c":
                return str(len(arguments))
            if found[1] == "*":
                return " ".join(arguments)
            index = decimal(found[1])
            if index >= len(arguments):
                raise ScriptError(f"Missing argument {index} in user function.")
            return arguments[index]

        return ARGUMENT.sub(text, line)
