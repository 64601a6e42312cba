"""Text for frames and source lines, as all commands that run the program or select frames show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rocdbg.cli.operand_lines import write_operands
from rocdbg.cli.paths import shown_name
from rocdbg.cli.source_listing import source_lines, write_instructions
from rocdbg.cli.writer import Styled
from rocdbg.debugger import lane_list, lane_ranges
from rocdbg.debugger.expr.lanes.lane_arguments import lane_arguments
from rocdbg.debugger.frames.frames import FrameKind
from rocdbg.debugger.values import c_types
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.base.focus import Focus
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
    from rocdbg.debugger.frames.frames import Frame
    from rocdbg.debugger.values.value import Value


class ArgumentTexts:
    """Formats arguments in frame lines as `set print frame-arguments` says."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    @property
    def is_plain(self) -> bool:
        """Whether no plug-in prints values."""
        return not self._shell.session.plugins.has_printers

    def of_type(self, value: Value) -> str | None:
        """Return the text for all arguments of this value's type; ``None`` if values are shown."""
        wanted = self._shell.session.settings.print.frame_arguments
        if wanted == "none" or (wanted == "scalars" and not c_types.is_scalar(c_types.referred(value.type))):
            return "..."
        return None

    def of_value(self, environment: ProgramEnvironment, value: Value) -> str:
        """Return the text of an argument at its place."""
        text = self.of_type(value)
        if text is not None:
            return text
        try:
            return self._shell.session.data.format_in(value, environment)
        except Error as error:
            return f"<error: {error}>"


def _arguments(shell: Shell, frame: Frame) -> Iterator[tuple[str, str]]:
    """Yield name and text of the arguments in a frame line, as `set print entry-values` says.

    If the compiler describes calls, the passed values are known, and the arguments already have them as values.
    """
    data, texts = shell.session.data, ArgumentTexts(shell)
    environment = data.environment_of(frame)
    return _with_entries(shell, [(name, texts.of_value(environment, value)) for name, value in data.arguments(frame)])


def _with_entries(shell: Shell, rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the arguments and entry values that `set print entry-values` selects."""
    wanted = shell.session.settings.print.entry_values
    for name, text in rows:
        if wanted != "only" or name.endswith("@entry"):
            yield name, text
        if wanted in ("only", "both") and not name.endswith("@entry"):
            yield f"{name}@entry", "<optimized out>"


def argument_parts(shell: Shell, frame: Frame) -> Styled:
    """Return the arguments of a frame as its line shows them: ``x=1, y=...``."""
    if shell.session.settings.print.frame_arguments != "presence":
        yield from _joined(_arguments(shell, frame))
    elif shell.session.data.arguments(frame):
        yield "", "..."


def _joined(arguments: Iterable[tuple[str, str]]) -> Styled:
    for index, (name, text) in enumerate(arguments):
        if index:
            yield "", ", "
        yield "variable", name
        yield "", f"={text}"


def frame_parts(
    shell: Shell, frame: Frame, number: bool, address: bool | None = None, place: bool = True,
    arguments: Styled | None = None,
) -> Styled:
    """Return a frame line without its newline: ``#0  f (x=1) at k.hip:9``.

    ``address``: whether to show the address; None: only if the PC is not at the beginning of a line. Without ``place``
    the line ends after the arguments. ``arguments`` is the result of `argument_parts`, if known already.
    """
    if number:
        yield "", f"#{frame.level:<2} "
    if frame.kind is FrameKind.DUMMY:
        yield "function", frame.name or ""
        return
    shown = frame.shows_address if address is None else address
    if shown and shell.session.settings.print.address:
        yield "address", f"{frame.pc:#018x}"
        yield "", " in "
    yield "function", frame.name or "??"
    yield "", " ("
    yield from argument_parts(shell, frame) if arguments is None else arguments
    yield "", ")"
    if place and frame.file is not None and frame.line is not None:
        yield "", " at "
        yield "file", shown_name(shell, frame.file)
        yield "", f":{frame.line}"


def frame_text(shell: Shell, frame: Frame, number: bool = False) -> str:
    """Return `frame_parts` as plain text, for cells of tables."""
    return "".join(text for _, text in frame_parts(shell, frame, number))


def frame_texts(shell: Shell, frames: Sequence[Frame]) -> list[str]:
    """Return `frame_text` for frames of one level in many lanes. Lanes at the same place share texts that are computed
    once.
    """
    places: dict[int, list[int]] = {}
    for index, frame in enumerate(frames):
        places.setdefault(id(frame.origin), []).append(index)
    found = [""] * len(frames)
    has_values = shell.session.settings.print.frame_arguments != "presence"
    for indices in places.values():
        first = frames[indices[0]]
        if len(indices) == 1 or not has_values or first.kind is FrameKind.DUMMY:
            for index in indices:
                found[index] = frame_text(shell, frames[index])
            continue
        rows = lane_arguments(shell.session.data, [frames[index] for index in indices], ArgumentTexts(shell))
        around = "".join(text for _, text in frame_parts(shell, first, False, arguments=[("", _HOLE)])).split(_HOLE)
        for index, arguments in zip(indices, rows, strict=True):
            found[index] = "".join(text for _, text in _joined(_with_entries(shell, arguments))).join(around)
    return found


_HOLE = "\0"
"""A placeholder for the arguments; this text cannot occur in a name."""


def source_line(shell: Shell, frame: Frame, address: bool = False, select: bool = True) -> None:
    """Show the source line of a frame (``9\\t    y[i] = ...``), or why there is none.

    With ``select``, `list` continues from it.
    """
    if frame.file is None or frame.line is None:
        next_instructions(shell, frame, has_source=False)
        return
    if select:
        shell.session.places.position.show_frame(frame.file, frame.line, frame.pc)
    if address and frame.shows_address and shell.session.settings.print.address:
        shell.out.styled([("address", f"{frame.pc:#018x}"), ("", "\t")])
    try:
        shell.session.sources.line(frame.file, frame.line)
    except Error as error:
        shell.line(str(error))
        next_instructions(shell, frame, has_source=False)
        return
    lines = shell.session.sources.text(frame.file).lines
    shell.warn_of_texts()
    [text] = source_lines(shell, lines, frame.file.name, frame.line - 1, 1)
    shell.out.raw(f"{frame.line}\t{text}\n")
    next_instructions(shell, frame, has_source=True)


def next_instructions(shell: Shell, frame: Frame, has_source: bool) -> None:
    """Show the rest of the line, or the next instruction, as machine code (`set disassemble-next-line`)."""
    if shell.session.settings.operands and frame.level == 0:
        with suppress(Error):
            write_operands(shell)
    wanted = shell.session.settings.disassemble_next_line
    if wanted == "off" or (wanted == "auto" and has_source):
        return
    end = frame.pc + 1
    if has_source and frame.row is not None:
        end = max(end, frame.program.to_loaded(frame.row.end_address))
    write_instructions(shell, shell.session.places.disassemble(frame.pc, end), True, None)


def show_frame(
    shell: Shell, frame: Frame, number: bool = True, what: str = "source-and-location", select: bool = True,
    arguments: Styled | None = None,
) -> None:
    """Show a frame in the form that `set print frame-info` selects, otherwise in that of ``what``, which is one of the
    setting's values: the source line, the frame line, or both.

    With ``select``, `list` continues from it.
    """
    wanted = shell.session.settings.print.frame_info
    if wanted == "auto":
        wanted = what
    if frame.line is None and wanted == "source-line":
        wanted = "source-and-location"
    if wanted != "source-line":
        address = True if wanted == "location-and-address" else None
        shell.out.styled(frame_parts(shell, frame, number, address, wanted != "short-location", arguments))
        shell.line()
    if frame.kind is FrameKind.DUMMY:
        return
    if wanted in ("source-line", "source-and-location"):
        source_line(shell, frame, address=wanted == "source-line", select=select)
    elif select and frame.file is not None and frame.line is not None:
        shell.session.places.position.show_frame(frame.file, frame.line, frame.pc)


MOST_OF_NAME = 15


def lanes_phrase(mask: int) -> str:
    """Return ``with lane 5`` or ``with lanes [0-31 40]``."""
    lanes = lane_list(mask)
    return f"with lane {lanes[0]}" if len(lanes) == 1 else f"with lanes [{lane_ranges(mask)}]"


def thread_title(shell: Shell, scope: Focus) -> str:
    """Return the title of a thread: ``Thread 1 "saxpy"``."""
    assert scope.thread is not None
    return f'Thread {scope.thread} "{wave_name(shell.session.inferior.wave(scope.thread).kernel)}"'


def wave_name(kernel: str) -> str:
    """Return the name of waves to which the user gave none: the kernel's name without template arguments, cut to the
    length that names of threads may have on Linux.
    """
    start = len("operator") if kernel.startswith("operator") else 0
    return kernel[: next((at for at in range(start, len(kernel)) if kernel[at] in "<("), len(kernel))][:MOST_OF_NAME]


def switching(shell: Shell, scope: Focus) -> str:
    """Return ``[Switching to thread 2, lane 5 (AMDGPU Lane ...)]``."""
    assert scope.thread is not None and scope.lane is not None
    wave = shell.session.inferior.wave(scope.thread)
    return f"[Switching to thread {scope.thread}, lane {scope.lane} ({wave.lane_target_id(scope.lane)})]"
