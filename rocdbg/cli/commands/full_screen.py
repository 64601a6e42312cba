"""The full-screen mode: on and off, layouts, focus, sizes of windows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of, words_of
from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Registry, Repeat, command
from rocdbg.cli.prefixes import list_subcommands
from rocdbg.debugger.base.digits import decimal

if TYPE_CHECKING:
    from rocdbg.cli.screen.pane import Pane
    from rocdbg.cli.screen.screen import Screen
    from rocdbg.cli.shell import Shell

TEXT_UI = Category.TUI
NOT_A_TERMINAL = "Cannot enable the TUI when output is not a terminal"
GROUPS = ("general", "vector", "system", "all")
WINDOW_NAMES = ("src", "asm", "regs", "lanes", "locals", "waves", "cmd")
STEPS = ("next", "prev")
SIZE = re.compile(r"(\S+)\s+([+-]?)\s*([0-9]{1,6})")
SCROLLED = re.compile(r"([0-9]{0,6})\s*(.*)", re.DOTALL)
MOST_LAYOUTS = 100


def screen_of(shell: Shell) -> Screen:
    """The full-screen mode of a shell, created on first use."""
    if shell.screen is None:
        from rocdbg.cli.screen.screen import Screen

        shell.screen = Screen(shell)
    return shell.screen


def need_terminal(shell: Shell) -> Screen:
    """Return the full-screen mode of a shell, switched on. Raises `CommandError` if it cannot be shown."""
    set_enabled(shell, True)
    return screen_of(shell)


def set_enabled(shell: Shell, on: bool) -> None:
    """Switch the mode on or off; it takes effect when the next line is read. Raises `CommandError`."""
    if on:
        if not shell.interactive:
            raise CommandError(NOT_A_TERMINAL)
        from rocdbg.cli.standard_streams import is_dumb

        if is_dumb():
            raise CommandError("Cannot enable the TUI: terminal doesn't support cursor addressing")
        screen = screen_of(shell)
        screen.enabled = True
        if screen.terminal is None:  # what commands say until it is shown is in its command window then
            shell.out.also = shell.err.also = screen.command.stream
    elif shell.screen is not None:
        shell.screen.enabled = False
        shell.out.also = shell.err.also = None


@command("tui enable", category=TEXT_UI, args=Arguments())
def tui_enable(shell: Shell) -> None:
    """Enable TUI display mode.

    The terminal shows source, lanes and registers above the prompt, where all commands work as before. Ctrl-X A
    switches the mode on and off, Ctrl-X 1 and Ctrl-X 2 change the layout, Ctrl-X O moves the focus. Arrows and pages
    scroll the window with the focus; in the lane map they move the cursor, and Enter or a click selects the lane.
    """
    need_terminal(shell)


@command("tui disable", category=TEXT_UI, args=Arguments())
def tui_disable(shell: Shell) -> None:
    """Disable TUI display mode."""
    set_enabled(shell, False)


@command("tui refresh", category=TEXT_UI, aliases=("refresh",), args=Arguments())
def tui_refresh(shell: Shell) -> None:
    """Refresh the terminal display."""
    terminal = need_terminal(shell).terminal
    if terminal is not None:
        terminal.redraw()


@command("update", category=TEXT_UI, args=Arguments())
def update(shell: Shell) -> None:
    """Update the source window and locator to display the current execution point."""
    if not shell.session.inferior.running:
        raise CommandError("No registers.")
    if shell.screen is not None:
        shell.screen.source.follow()


# -- layouts


def apply_layout(shell: Shell, name: str) -> None:
    """Show a layout by its name."""
    screen = need_terminal(shell)
    if name in STEPS:
        screen.cycle_layout(1 if name == "next" else -1)
    else:
        screen.set_layout(name)


_LAYOUT_HELP = {
    "src": 'Apply the "src" layout.\n\nThe source, with the lanes that are at each line in its margin.',
    "asm": 'Apply the "asm" layout.\n\nThe machine code of the function.',
    "split": 'Apply the "split" layout.\n\nThe source, and the machine code below it.',
    "regs": "Apply the TUI register layout.\n\nThe registers, and the source below them.",
    "lanes": 'Apply the "lanes" layout.\n\nThe source, and beside it the lane map, the locals of three lanes, and'
             " the waves.",
    "next": "Apply the next TUI layout.",
    "prev": "Apply the previous TUI layout.",
}


def layout_spec(name: str, help_: str) -> CommandSpec:
    """The command ``layout NAME``."""

    def handler(shell: Shell, text: str) -> None:
        apply_layout(shell, name)

    return CommandSpec(
        ("tui", "layout", name), handler, TEXT_UI, help_, usage=f"tui layout {name}",
        arguments=Arguments(),
    )


@command("tui layout", category=TEXT_UI, args=Arguments(optional("text", text_of("prev|next|LAYOUT-NAME"), "")))
def tui_layout(shell: Shell, text: str) -> None:
    """Change the layout of windows.

    Without an argument, list the available layouts.
    """
    if text:
        raise CommandError(f'Undefined tui layout command: "{text}".  Try "help tui layout".')
    path, node = shell.registry.node(["tui", "layout"])
    list_subcommands(shell, path, node)


def add_layouts(registry: Registry) -> None:
    """Add the predefined layouts, below `tui layout` and `layout`."""
    for name, help_ in _LAYOUT_HELP.items():
        registry.add(layout_spec(name, help_))
    registry.add_alias(("layout",), registry.node(["tui", "layout"])[1])


@command(
    "tui new-layout", category=TEXT_UI, repeat=Repeat.NEVER,
    args=Arguments(
        required("words", words_of("NAME [-horizontal] WINDOW WEIGHT [WINDOW WEIGHT]..."), "No layout name specified",
                 "NAME [-horizontal] WINDOW WEIGHT [WINDOW WEIGHT]..."), has_table=False,
    ),
)
def tui_new_layout(shell: Shell, words: list[str]) -> None:
    """Create a new TUI layout.

    "layout NAME" shows it. Windows are src, asm, regs, lanes, locals, waves, status and cmd, in the order given;
    { [-horizontal] NAME WEIGHT ... } instead of a window is a nested group, whose windows are side by side with
    -horizontal. A weight is the share of the space that a window gets.
    """
    from rocdbg.cli.screen.window_layout import parse_layout

    if words[0] == "-horizontal" and len(words) > 1:  # GDB's usage line has it here
        words = [words[1], words[0], *words[2:]]
    name = words[0]
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name):
        raise CommandError(f'Invalid name "{name}" for a layout: use letters, digits, "_", "-" and ".".')
    layout = parse_layout(" ".join(words[1:]))
    screen = screen_of(shell)
    if name in (*_LAYOUT_HELP, *STEPS):
        raise CommandError(f'The layout "{name}" is built in and cannot be replaced.')
    if len(screen.layouts) >= MOST_LAYOUTS:
        raise CommandError(f"Cannot create another layout: there are {MOST_LAYOUTS} already.")
    screen.layouts[name] = layout
    made = " ".join(["tui new-layout", *words])
    shell.registry.add(layout_spec(name, f'Apply the "{name}" layout.\n\nThis layout was created using:\n  {made}'))


# -- focus and sizes


def _window(screen: Screen, name: str) -> str:
    """The window on the screen with a name or abbreviation. Raises `CommandError`."""
    names = screen.shown()
    found = [name] if name in names else [each for each in names if each.startswith(name)]
    if not found:
        raise CommandError(f'Unrecognized window name "{name}"')
    if len(found) > 1:
        raise CommandError(f'Window name "{name}" is ambiguous')
    return found[0]


FOCUS = Kind("NAME|next|prev", "str", lambda shell, text: text, words=(*WINDOW_NAMES, *STEPS))


@command("tui focus", category=TEXT_UI, aliases=("focus", "fs"), args=Arguments(optional("name", FOCUS, "")))
def tui_focus(shell: Shell, name: str) -> None:
    """Set focus to named window or next/prev window.

    Arrow and page keys apply to the window with the focus. "info win" shows the names of the windows.
    """
    screen = need_terminal(shell)
    if (name and name in STEPS) or (len(name) > 1 and any(step.startswith(name) for step in STEPS)):
        screen.cycle_focus(1 if name.startswith("n") else -1)
    elif name:
        window = _window(screen, name)
        if window not in screen.focusable():
            raise CommandError(f"Window cannot be focused: {window}")
        screen.set_focus(window)
    shell.line(f"Focus set to {screen.focus} window.")


def _resize(shell: Shell, text: str, horizontal: bool) -> None:
    screen = need_terminal(shell)
    word = "width" if horizontal else "height"
    found = SIZE.fullmatch(text)
    if found is None:
        raise CommandError(f"Usage: tui window {word} WINDOW-NAME [+ | -] NUM-LINES")
    relative = {"": 0, "+": 1, "-": -1}[found[2]]
    screen.resize(_window(screen, found[1]), horizontal, decimal(found[3]), relative)


_SIZE = Arguments(optional("text", text_of("WINDOW-NAME [+|-] N", words=WINDOW_NAMES), ""))


@command("tui window height", category=TEXT_UI, aliases=("winheight", "wh"), args=_SIZE)
def tui_window_height(shell: Shell, text: str) -> None:
    """Set or modify the height of a specified window.

    The other windows of the layout share the remaining space.
    """
    _resize(shell, text, horizontal=False)


@command("tui window width", category=TEXT_UI, aliases=("winwidth",), args=_SIZE)
def tui_window_width(shell: Shell, text: str) -> None:
    """Set or modify the width of a specified window.

    Applies to windows that are side by side.
    """
    _resize(shell, text, horizontal=True)


@command("info win", category=Category.STATUS, args=Arguments())
def info_win(shell: Shell) -> None:
    """List of all displayed windows."""
    screen = shell.screen
    if screen is None or not screen.enabled:
        shell.line("The TUI is not active.")
        return
    rows = [("Name", "Lines", "Columns", "Focus")]
    rows += [
        (name, str(rect.height), str(rect.width), "(has focus)" if name == screen.focus else "")
        for name, rect in screen.rects().items()
    ]
    for name, lines, columns, focus in rows:
        shell.line(f"{name:<10} {lines:>5} {columns:>7} {focus}".rstrip())


# -- scrolling


def _scroll(shell: Shell, text: str) -> tuple[Pane, int]:
    """Return the window that ``[N] [WIN]`` names, by default the one with the focus, and how far to scroll it."""
    screen = need_terminal(shell)
    number, name = SCROLLED.fullmatch(text).groups()  # type: ignore[union-attr]
    window = screen.focus
    if name:
        known = [each for each in WINDOW_NAMES if each.startswith(name)]
        if not known:
            raise CommandError(f"Unrecognized window `{name}'")
        shown = [each for each in known if each in screen.shown()]
        if not shown:
            raise CommandError("Window is not visible")
        window = shown[0]
    if window == "cmd":
        window = next((each for each in ("src", "asm") if each in screen.shown()), window)
    return screen.panes[window], decimal(number) if number else 1


_SCROLLED = Arguments(optional("text", text_of("[N] [WIN]"), "", "[N] [WIN]"))


@command("+", category=TEXT_UI, args=_SCROLLED)
def scroll_forward(shell: Shell, text: str) -> None:
    """Scroll window forward.

    Scrolls WIN, by default the window with the focus, by N lines (by default one).
    """
    pane, count = _scroll(shell, text)
    pane.scroll(count)


@command("-", category=TEXT_UI, args=_SCROLLED)
def scroll_backward(shell: Shell, text: str) -> None:
    """Scroll window backward.

    Scrolls WIN, by default the window with the focus, by N lines (by default one).
    """
    pane, count = _scroll(shell, text)
    pane.scroll(-count)


@command("<", category=TEXT_UI, args=_SCROLLED)
def scroll_left(shell: Shell, text: str) -> None:
    """Scroll window text to the left.

    Scrolls WIN, by default the window with the focus, by N characters (by default one), which shows more of its right.
    """
    pane, count = _scroll(shell, text)
    pane.shift(count)


@command(">", category=TEXT_UI, args=_SCROLLED)
def scroll_right(shell: Shell, text: str) -> None:
    """Scroll window text to the right.

    Scrolls WIN, by default the window with the focus, by N characters (by default one).
    """
    pane, count = _scroll(shell, text)
    pane.shift(-count)


# -- contents of windows


@command(
    "tui reg", category=TEXT_UI,
    args=Arguments(optional("group", Kind("NAME", "str", lambda shell, text: text, words=(*GROUPS, *STEPS)), "")),
)
def tui_reg(shell: Shell, group: str) -> None:
    """TUI command to control the register window.

    Groups are general (PC, EXEC, VCC and scalar registers), vector, system and all; next and prev cycle through them.
    """
    screen = need_terminal(shell)
    found = [each for each in (*GROUPS, *STEPS) if group and each.startswith(group)]
    if not group:
        shell.line('"tui reg" must be followed by the name of either a register group,\n'
                   "or one of 'next' or 'prev'.  Known register groups are:\n" + ", ".join(GROUPS))
    elif len(found) != 1:
        raise CommandError(f"{'ambiguous' if found else 'unknown'} register group '{group}'")
    elif found[0] in STEPS:
        screen.cycle_registers(1 if found[0] == "next" else -1)
    else:
        screen.show_registers(found[0])


@command(
    "tui compare", category=TEXT_UI,
    args=Arguments(optional("words", words_of("LANE [LANE]"), shown="LANE [LANE]")),
)
def tui_compare(shell: Shell, words: list[str] | None) -> None:
    """Choose the lanes that the locals window shows beside the selected one.

    Without an argument, they are the next active lanes.
    """
    lanes = tuple(shell.session.data.integer(word) for word in words or ())
    if len(lanes) > 2:
        raise CommandError("tui compare: at most two lanes can be given.")
    if any(not 0 <= lane < 64 for lane in lanes):
        raise CommandError("tui compare: a lane must be a number from 0 to 63.")
    screen_of(shell).locals.chosen = lanes
