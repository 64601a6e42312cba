"""The prompt on a terminal: prompt_toolkit with history, completion and a status line, or the full-screen mode.

It is a separate module because importing prompt_toolkit takes a tenth of a second, which scripts do not need to spend.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, create_app_session
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import AnyFormattedText, OneStyleAndTextTuple
from prompt_toolkit.history import History
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import create_output

from rocdbg.cli.answer_keys import add_answer_keys
from rocdbg.cli.interrupts import Interrupted
from rocdbg.cli.prompt_completer import PromptCompleter
from rocdbg.cli.standard_streams import is_dumb, shows_unicode
from rocdbg.cli.toolkit_style import colour_depth, theme_style
from rocdbg.cli.typed_blocks import is_open, lead, typed_lines, what_is_wanted

if TYPE_CHECKING:
    from rocdbg.cli.screen.terminal import FullScreen
    from rocdbg.cli.shell import Shell

def _plain_output() -> AbstractContextManager[object]:
    """For a terminal without escape sequences: suppress all of them, even the one that shows the cursor."""
    if not is_dumb():
        return nullcontext()
    output = create_output(sys.stdout)
    output.show_cursor = lambda: None  # type: ignore[method-assign]
    return create_app_session(output=output)


def _typed_interrupt(app: Application[Any]) -> bool:
    """Whether Ctrl-C was typed after the text that was read, at a time when the terminal did not yet turn Ctrl-C into a
    signal again. Text typed before the Ctrl-C is discarded, as terminals do.
    """
    keys = [*get_typeahead(app.input), *app.input.read_keys()]
    last = max((index for index, press in enumerate(keys) if press.key == Keys.ControlC), default=-1)
    store_typeahead(app.input, keys[last + 1 :])
    return last >= 0


class TerminalPrompt:
    """Reads the lines of a session, at the plain prompt or on the full screen.

    A text of several lines (a block, or pasted text) is returned line by line.
    """

    def __init__(self, shell: Shell, history: History) -> None:
        self.shell = shell
        self._history = history
        self._completer = PromptCompleter(shell)
        self._lines: deque[str] = deque()
        self._full: FullScreen | None = None
        self._toggled = False
        self._wanted = ""  # printed before the lines of a block are read one by one
        self._end: Callable[[BaseException], None] = lambda reason: None  # ends the prompt that is reading
        self._asks = False  # whether the input answers a question, so that it is no command and not for the history
        # With styles off on a dumb terminal nothing is redrawn, since a screen reader would read it again each time.
        with _plain_output():
            self._session: PromptSession[str] = PromptSession(
                history=history, completer=self._completer, complete_while_typing=Condition(self._has_popups),
                enable_open_in_editor=False, multiline=Condition(self._is_open),
                prompt_continuation=self._continuation,
                bottom_toolbar=self._toolbar if not is_dumb() else None, key_bindings=self._bindings(),
                style=theme_style(shell, full_screen=False),
                reserve_space_for_menu=6, complete_in_thread=False,
            )

        keys: list[KeyPress] = []
        Vt100Parser(keys.append).feed_and_flush(shell.typed_ahead.decode("utf-8", "surrogateescape"))
        shell.typed_ahead = b""
        store_typeahead(self._session.app.input, keys)

    def close(self) -> None:
        """Release the terminal."""
        if self._full is not None:
            self._full.stop()

    def read(self, prompt: str) -> str:
        """Read a command line. Raises EOFError at the end of input, `Interrupted` for Ctrl-C."""
        line = self._lines.popleft() if self._lines else self._read(prompt, asks=False)
        self._wanted = what_is_wanted(line) if is_dumb() else ""
        return line

    def more(self, prompt: str) -> str:
        """Read a further line of a block that is not edited as a whole."""
        if self._lines:
            return self._lines.popleft()
        if self._wanted:
            self.shell.line(self._wanted)
            self._wanted = ""
        return self._read(prompt, asks=False)

    def ask(self, question: str) -> str:
        """Read the answer to a question; pasted lines that are still waiting are not used for it."""
        return self._read(question, asks=True)

    def _read(self, prompt: str, asks: bool) -> str:
        default = ""
        self._asks = asks
        while True:
            screen = self.shell.screen
            full = screen is not None and screen.enabled
            self._toggled = False
            if full:
                text, self._toggled = self._read_full(prompt, default, asks)
            else:
                self.close()
                text = self._guarded(self._session.app, lambda: self._read_plain(prompt, default))  # noqa: B023
            if not self._toggled:
                break
            default = text
            self.shell.guard(self._toggle, "Ctrl-X A")
        lines = typed_lines(text) if not asks else [text]
        self._lines.extend(lines[1:])
        return lines[0]

    def _read_plain(self, prompt: str, default: str) -> str:
        self.shell.out.flush()
        self._session.color_depth = colour_depth(self.shell)
        self._session.app.erase_when_done = False
        # If the session has handlers for signals, they stay: prompt_toolkit installs its own while it reads a line.
        own = self.shell.signals is None
        return self._session.prompt(prompt, default=default, handle_sigint=own, pre_run=self._leave_if_asked)

    def _read_full(self, prompt: str, default: str, asks: bool) -> tuple[str, bool]:
        full = self._full
        if full is None:
            from rocdbg.cli.screen.terminal import FullScreen

            assert self.shell.screen is not None
            self.shell.screen.unicode = shows_unicode()
            full = FullScreen(self.shell, self.shell.screen, self._history, self._completer, is_open)
            self._full = self.shell.screen.terminal = full
        text = self._guarded(full.app, lambda: full.read(prompt, default, asks, self._leave_if_asked))
        return text, full.toggled

    def _guarded(self, app: Application[Any], read: Callable[[], str]) -> str:
        """Read with an application that signals can end."""
        signals = self.shell.signals

        def end(reason: BaseException) -> None:
            # If a line was just accepted, the signal is for the command on that line.
            if app.is_running and not app.is_done:
                if signals is not None and isinstance(reason, Interrupted):
                    signals.answered()
                app.exit(exception=reason)

        def leave(reason: BaseException) -> None:
            if app.is_running and app.loop is not None:
                app.loop.call_soon_threadsafe(end, reason)

        self._end = end
        if signals is not None:
            signals.leave_prompt = leave
        try:
            text = read()
            if signals is not None and _typed_interrupt(app):
                signals.typed()
            return text
        except KeyboardInterrupt:
            _typed_interrupt(app)
            raise Interrupted from None
        except OSError:  # the terminal no longer exists
            raise EOFError from None
        finally:
            if signals is not None:
                signals.leave_prompt = None

    def _leave_if_asked(self) -> None:
        """Handle a Ctrl-C that arrived before the prompt could notice it."""
        if self.shell.signals is not None and self.shell.signals.asked:
            self._end(Interrupted())

    def _toggle(self) -> None:
        from rocdbg.cli.commands.full_screen import set_enabled

        screen = self.shell.screen
        set_enabled(self.shell, not (screen is not None and screen.enabled))

    # -- appearance of the plain prompt

    def _has_popups(self) -> bool:
        """Whether completion pops up while typing; it does not if redrawing is disabled."""
        return not is_dumb() and not self._asks and bool(self.shell.settings.get("style enabled", True))

    def _is_open(self) -> bool:
        """Whether Enter begins another line of a block; a terminal that cannot redraw reads each line separately."""
        return not self._asks and not is_dumb() and is_open(self._session.default_buffer.text)

    def _continuation(self, width: int, line: int, wrapped: int) -> str:
        """Return the prompt for further lines of a block."""
        return "" if wrapped else lead(self._session.default_buffer.text.split("\n")[:line])

    def _toolbar(self) -> AnyFormattedText:
        """Return the focus and EXEC, if a program is running; in a block, how to end it."""
        if self.shell.settings.get("style enabled", True) is False:
            return []
        wanted = what_is_wanted(self._session.default_buffer.text)
        if wanted and not self._asks:
            return [("class:status", f" {wanted}")]
        if self.shell.session.inferior.target is None:
            return []
        from rocdbg.cli.screen.session_view import View
        from rocdbg.cli.screen.status import status_line

        found: list[OneStyleAndTextTuple] = []

        def look() -> None:
            width = self._session.app.output.get_size().columns
            found.extend(status_line(View(self.shell, shows_unicode(), 0, None), width))

        self.shell.guard(look, "the status line")
        return found

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()
        chooses = Condition(
            lambda: (state := self._session.default_buffer.complete_state) is not None
            and state.complete_index is not None
        )

        def leave(event: KeyPressEvent) -> None:
            self._toggled = True
            event.app.erase_when_done = True  # the prompt appears again, on the other screen
            event.app.exit(result=event.current_buffer.text)

        for last in ("a", "c-a"):
            keys.add("c-x", last)(leave)

        @keys.add("up", filter=~chooses)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.cancel_completion()
            event.current_buffer.auto_up(count=event.arg)

        @keys.add("down", filter=~chooses)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.cancel_completion()
            event.current_buffer.auto_down(count=event.arg)

        add_answer_keys(keys, Condition(lambda: self._asks))

        return keys
