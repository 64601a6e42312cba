"""The full screen on a terminal: prompt_toolkit shows what `Screen` draws, and reads lines below it.

The application runs separately for every line, as at the plain prompt. Commands run outside it, in the terminal's usual
mode, in which Ctrl-C is a signal. The alternate screen stays on between the runs (`_KeptRenderer`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    BufferControl,
    CompletionsMenu,
    ConditionalContainer,
    Float,
    FloatContainer,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.processors import BeforeInput, Transformation, TransformationInput
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType
from prompt_toolkit.output import create_output
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.widgets import SearchToolbar

from rocdbg.cli.answer_keys import add_answer_keys
from rocdbg.cli.screen.canvas import Canvas
from rocdbg.cli.screen.fragments import columns
from rocdbg.cli.screen.screen import ONE, TWO, Picture, Screen
from rocdbg.cli.toolkit_style import colour_depth, theme_style
from rocdbg.cli.typed_blocks import lead, what_is_wanted

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

REPAINT_SECONDS = 0.1
"""The minimum number of seconds between updates of a running command's output."""
MOST_PROMPT_ROWS = 8


class _Prompts(BeforeInput):
    """The prompt of the first line, and that of further lines of a block."""

    def apply_transformation(self, given: TransformationInput) -> Transformation:
        if given.lineno == 0:
            return super().apply_transformation(given)
        before = lead(given.document.lines[: given.lineno])
        shift = len(before)
        return Transformation(
            [("class:prompt", before), *given.fragments],
            source_to_display=lambda at: at + shift, display_to_source=lambda at: at - shift,
        )


class _KeptRenderer(Renderer):
    """Keeps the screen when a run of the application ends, until `leave` is called."""

    leaving = True

    def reset(self, _scroll: bool = False, leave_alternate_screen: bool = True) -> None:
        if self.leaving:
            super().reset(_scroll, leave_alternate_screen)

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        super().render(app, layout, is_done=False)

    def enter(self) -> None:
        """Take the terminal."""
        self.leaving = False
        self.output.enter_alternate_screen()
        self._in_alternate_screen = True
        self.forget()

    def leave(self) -> None:
        """Release the terminal."""
        self.leaving = True
        self.output.enable_autowrap()  # usually done by a final drawing, which does not take place here
        self.reset()

    def forget(self) -> None:
        """Redraw everything the next time, because something else has written to the terminal."""
        self._last_screen = None
        self._last_style = None
        self.output.reset_attributes()
        self.output.erase_screen()
        self.output.cursor_goto(0, 0)
        self._cursor_pos = Point(0, 0)

    def erase(self, leave_alternate_screen: bool = True) -> None:
        if self.leaving:
            super().erase(leave_alternate_screen)
        else:  # the size has changed
            self.forget()


class FullScreen:
    """Reads lines on the full screen.

    ``history`` and ``completer`` are those of the plain prompt; ``is_open``: whether a text needs more lines.
    """

    def __init__(
        self, shell: Shell, screen: Screen, history: History, completer: Completer, is_open: Callable[[str], bool]
    ) -> None:
        self.shell = shell
        self.screen = screen
        self._prompt = ""
        self._asks = False
        self._kept = ""  # the text at the prompt when a key ran a command
        self._painted = 0.0
        self._painting = Lock()
        self.toggled = False
        """Whether Ctrl-X A, and not Enter, ended the last read."""
        self._buffer = Buffer(
            history=history, completer=completer, complete_while_typing=Condition(lambda: not self._asks),
            name="DEFAULT_BUFFER",
            multiline=Condition(lambda: not self._asks and is_open(self._buffer.text)),
            accept_handler=self._accept,
        )
        output = create_output(sys.stdout)
        style = theme_style(shell, full_screen=True)
        search = SearchToolbar(ignore_case=True)
        control = BufferControl(
            self._buffer, input_processors=[_Prompts(lambda: [("class:prompt", self._prompt)])],
            search_buffer_control=search.control, preview_search=True,
        )
        entry = HSplit([Window(control, wrap_lines=True, style="class:input"), search])
        # The buffer needs the event loop, which runs only while a line is read; without it, only output is shown.
        entry_now = ConditionalContainer(entry, Condition(lambda: self.app.is_running))
        self._input = Float(entry_now, left=0, top=0, width=80, height=1)
        container = FloatContainer(
            Canvas(self._draw, self._on_mouse),
            [self._input, Float(CompletionsMenu(max_height=8), xcursor=True, ycursor=True)],
        )
        self.app: Application[str] = Application(
            layout=Layout(container, focused_element=control), key_bindings=self._bindings(), full_screen=True,
            mouse_support=Condition(lambda: self.screen.mouse), style=style, output=output,
            color_depth=lambda: colour_depth(shell), enable_page_navigation_bindings=False,
        )
        self._renderer = _KeptRenderer(style, output, full_screen=True,
                                       mouse_support=Condition(lambda: self.screen.mouse))
        self.app.renderer = self._renderer
        self.started = False

    # -- on and off

    def start(self) -> None:
        """Take the terminal; output goes to the command window from now on."""
        if not self.started:
            self.started = True
            self.shell.out.also = self.shell.err.also = None
            stream = self.screen.command.stream
            stream.flushed = self._repaint
            stream.show_progress = self._show_progress
            self.shell.out.redirect(stream, self.shell.out.colour)
            self.shell.err.redirect(stream, False)
            self._echo(False)
            self._renderer.enter()

    def stop(self) -> None:
        """Release the terminal."""
        if self.started:
            self.started = False
            self.shell.out.redirect(sys.stdout, self.shell.out.colour)
            self.shell.err.redirect(sys.stderr, False)
            self._renderer.leave()
            self._echo(True)

    def pause(self) -> None:
        """Give the terminal to another program temporarily (`shell`)."""
        self._renderer.leave()
        self._echo(True)

    def resume(self) -> None:
        """Take the terminal back after the other program; its output remains visible until Enter is pressed."""
        with suppress(KeyboardInterrupt, OSError, ValueError):
            sys.stdout.write("[Press RETURN to continue] ")
            sys.stdout.flush()
            sys.stdin.readline()
        self._echo(False)
        self._renderer.enter()

    def redraw(self) -> None:
        """``refresh``: draw everything again."""
        self._renderer.forget()

    @staticmethod
    def _echo(on: bool) -> None:
        """Set whether the terminal echoes text that is typed while a command runs."""
        import termios

        with suppress(termios.error, OSError, ValueError):
            attributes = termios.tcgetattr(0)
            attributes[3] = attributes[3] | termios.ECHO if on else attributes[3] & ~termios.ECHO
            termios.tcsetattr(0, termios.TCSANOW, attributes)

    # -- reading

    def read(
        self, prompt: str, default: str = "", asks: bool = False, begun: Callable[[], None] | None = None
    ) -> str:
        """Read a line, or a block of lines.

        ``asks``: a running command asks for it, so windows do not change. ``begun`` is called when reading can be
        interrupted. Raises EOFError and KeyboardInterrupt as prompt_toolkit's prompt does.
        """
        self.start()
        screen = self.screen
        screen.frozen = self._asks = asks
        if not asks:
            screen.changed()
            default, self._kept = default or self._kept, ""
        self.toggled = False
        self._prompt = screen.command.take_open_line() + prompt
        self._buffer.reset(Document(default))
        try:
            text = self.app.run(pre_run=begun, handle_sigint=False)
        finally:
            screen.frozen = True
        if not self.toggled:
            screen.command.write("".join(f"{lead}{line}\n" for lead, line in zip(
                self._leads(text), text.split("\n"), strict=True)))
            self._prompt = ""
            self._buffer.reset()
            self._paint()
            self._painted = 0.0  # so that the command's first output is shown at once, even if the command takes long
        return text

    def _accept(self, buffer: Buffer) -> bool:
        self.app.exit(result=buffer.text)
        return True

    def _run(self, line: str | None) -> None:
        """Run the command of a key or click as if it had been typed, and then restore the text at the prompt."""
        if line is not None:
            self._kept = self._buffer.text
            self.app.exit(result=line)

    # -- drawing

    def _draw(self, width: int, height: int) -> Picture:
        rows = self._prompt_rows(width)
        self.screen.wanted = "" if self._asks else what_is_wanted(self._buffer.text)
        picture = self.screen.draw(width, height, rows)
        rect = picture.rects.get("cmd")
        if rect is not None:
            self._input.left, self._input.width = rect.x, rect.width
            self._input.top, self._input.height = picture.prompt_row, rows
        return picture

    def _prompt_rows(self, width: int) -> int:
        rect = self.screen.rects().get("cmd")
        across = max(1, rect.width if rect is not None else width)
        rows = 0
        text = self._buffer.text
        for before, line in zip(self._leads(text), text.split("\n"), strict=True):
            rows += 1 + columns(before + line) // across
        searching = int(self.app.layout.is_searching)
        most = min(MOST_PROMPT_ROWS, rect.height if rect is not None else 1)
        return max(1, min(rows + searching, most))

    def _leads(self, text: str) -> list[str]:
        """Return the prefix of each line of a text at the prompt."""
        lines = text.split("\n")
        return [self._prompt, *(lead(lines[:number]) for number in range(1, len(lines)))]

    def _paint(self) -> None:
        with self._painting, set_app(self.app):
            self._painted = time.monotonic()
            self._renderer.render(self.app, self.app.layout)

    def _repaint(self) -> None:
        """Update the screen, because a command has written output."""
        if self.started and not self.app.is_running and time.monotonic() - self._painted > REPAINT_SECONDS:
            self._paint()

    def _show_progress(self, text: str) -> None:
        """Show the program's progress; called from a thread that polls it while a command runs."""
        self.screen.progress = text
        if self.started and not self.app.is_running:
            self._paint()

    # -- keys and mouse

    def _on_mouse(self, event: MouseEvent) -> None:
        x, y = event.position
        if event.event_type is MouseEventType.SCROLL_UP:
            self.screen.wheel(x, y, -3)
        elif event.event_type is MouseEventType.SCROLL_DOWN:
            self.screen.wheel(x, y, 3)
        elif event.event_type is MouseEventType.MOUSE_UP and not self.screen.frozen:
            self._run(self.screen.click(x, y))

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()
        screen = self.screen
        in_window = Condition(lambda: screen.focus != "cmd" and not self.app.layout.is_searching)
        is_empty = Condition(lambda: not self._buffer.text)
        chooses = Condition(
            lambda: self._buffer.complete_state is not None and self._buffer.complete_state.complete_index is not None
        )
        free = in_window & ~chooses

        def press(name: str) -> Callable[[KeyPressEvent], None]:
            return lambda event: self._run(screen.key(name))

        for name in ("up", "down"):
            keys.add(name, filter=free)(press(name))
            keys.add(name, filter=~in_window & ~chooses)(history_step(-1 if name == "up" else 1))
        for name in ("left", "right"):
            keys.add(name, filter=free & is_empty)(press(name))
        for name in ("pageup", "pagedown"):
            keys.add(name)(press(name))

        @keys.add("enter", filter=free & is_empty & Condition(lambda: not screen.frozen))
        def _(event: KeyPressEvent) -> None:
            line = screen.key("enter") if screen.focus in ("lanes", "waves") else None
            if line is not None:
                self._run(line)
            else:
                self._buffer.validate_and_handle()

        def leave(event: KeyPressEvent) -> None:
            self.toggled = True
            event.app.exit(result=self._buffer.text)

        for last in ("a", "c-a"):
            keys.add("c-x", last, filter=Condition(lambda: not screen.frozen))(leave)
        keys.add("c-x", "1")(lambda event: screen.cycle_among(ONE))
        keys.add("c-x", "2")(lambda event: screen.cycle_among(TWO))
        keys.add("c-x", "o")(lambda event: screen.cycle_focus(1))
        keys.add("c-l")(lambda event: self._renderer.forget())
        keys.add("c-p")(history_step(-1))
        keys.add("c-n")(history_step(1))

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(exception=KeyboardInterrupt)

        @keys.add("c-d", filter=is_empty)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(exception=EOFError)

        @keys.add("tab", filter=~has_completions)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.start_completion(insert_common_part=True)

        add_answer_keys(keys, Condition(lambda: self._asks))
        return keys


def history_step(step: int) -> Callable[[KeyPressEvent], None]:
    """Return a handler that moves up or down in a text of several lines and, beyond its ends, in the history."""

    def move(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if step < 0:
            buffer.auto_up(count=event.arg)
        else:
            buffer.auto_down(count=event.arg)

    def handler(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()
        move(event)

    return handler
