"""How long a redraw of the full screen and a completion take.

    python benchmarks/full_screen.py                      # redraws of the divergence demo, 80x24 and 200x60
    python benchmarks/full_screen.py --object big.co      # and completions in an object with many symbols

Each figure is the median of several, in milliseconds: ``first`` is the draw after a step, when everything has changed
(the wave's frames, registers and code are queried again); ``again`` is a draw for which only the prompt has changed.
``paint`` is prompt_toolkit's additional time to send 200x60 cells to the terminal.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from prompt_toolkit.completion import CompleteEvent  # noqa: E402
from prompt_toolkit.document import Document  # noqa: E402

from rocdbg.cli.prompt_completer import PromptCompleter  # noqa: E402
from rocdbg.cli.screen.screen import Screen  # noqa: E402
from rocdbg.cli.shell import Shell  # noqa: E402
from rocdbg.cli.writer import Writer  # noqa: E402
from rocdbg.debugger.session import Session  # noqa: E402

DEMO = ROOT / "demo_kernels" / "divergence" / "divergence.toml"


def make_shell(file: Path) -> Shell:
    shell = Shell(Session(), Writer(io.StringIO(), colour=True), Writer(io.StringIO()))
    shell.session.load(file)
    return shell


def milliseconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def redraws() -> None:
    """A table: layout and size against the first and later draws, and the painting."""
    print(f"{'layout':<8}{'size':<9}{'first':>8}{'again':>8}{'paint':>8}")
    for layout in ("src", "asm", "split", "regs", "lanes"):
        for width, height in ((80, 24), (200, 60)):
            shell = make_shell(DEMO)
            screen = Screen(shell)
            screen.set_layout(layout)
            shell.execute("break divergence.hip:12\nrun")
            first, again, paint = [], [], []
            painter = make_painter(screen, width, height)
            for _ in range(9):
                shell.execute("next")
                screen.changed()
                first.append(milliseconds(lambda: screen.draw(width, height)))  # noqa: B023
                again.append(milliseconds(lambda: screen.draw(width, height)))  # noqa: B023
                paint.append(milliseconds(painter))
            figures = "".join(f"{median(values):>8.1f}" for values in (first, again, paint))
            print(f"{layout:<8}{f'{width}x{height}':<9}{figures}")


def make_painter(screen: Screen, width: int, height: int) -> Callable[[], None]:
    """Return a function that shows pictures on a terminal of this size, as the program does."""
    from prompt_toolkit.application import Application
    from prompt_toolkit.application.current import set_app
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.input import DummyInput
    from prompt_toolkit.layout import Float, FloatContainer, Layout, Window
    from prompt_toolkit.output.vt100 import Vt100_Output

    from rocdbg.cli.screen.canvas import Canvas
    from rocdbg.cli.toolkit_style import theme_style

    output = Vt100_Output(io.StringIO(), lambda: Size(rows=height, columns=width), term="xterm-256color")
    entry = Float(Window(), width=1, height=1, left=0, top=0)
    content = FloatContainer(Canvas(screen.draw, lambda event: None), [entry])
    app: Application[None] = Application(
        Layout(content), full_screen=True, style=theme_style(screen.shell, full_screen=True), output=output,
        input=DummyInput(),
    )

    def paint() -> None:
        with set_app(app):
            app.renderer.render(app, app.layout)

    return paint


def completions(file: Path) -> None:
    """The waiting time for each key, from the first on."""
    shell = make_shell(file)
    completer = PromptCompleter(shell)
    names = shell.session.inferior.need_program().names

    def key(line: str) -> float:
        typed = CompleteEvent(text_inserted=True)
        return milliseconds(lambda: list(completer.get_completions(Document(line), typed)))

    print(f"{'first key':<28}{key('print f'):>8.1f} ms (the units are looked through)")
    reading = [key(f"print func_{number % 10}") for number in range(20)]
    print(f"{'while names are read':<28}{median(reading):>8.1f} ms, at most {max(reading):.1f}")
    print(f"{'reading the rest':<28}{milliseconds(names.finish):>8.0f} ms, in slices between the keys")
    for line in ("print f", "break func_1", "print func_12", "ptype s", "info t", "set print "):
        print(f"{line!r:<28}{median(key(line) for _ in range(9)):>8.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--object", type=Path, help="a code object with many names")
    options = parser.parse_args()
    redraws()
    if options.object is not None:
        completions(options.object)
