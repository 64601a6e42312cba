"""Hostile recordings: sound ones that are decoded, changed, and encoded again; and sound ones with changed bytes.

Changes are made to the decoded form, as lists and dictionaries, so that checksums and framing stay valid and every
value of every field is reached. The new values include numbers and types that the format does not have.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import copy
import functools
import io
import random
import signal
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import zstandard

from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.session import Session
from rocdbg.errors import Error
from rocdbg.launch import recording_file_format
from rocdbg.launch.spec import LaunchSpec
from rocdbg.sim.device.journal import Written

from . import kinds

CODE = str(Path(recording_file_format.__file__).parents[1])
"""The folder of rocdbg's modules."""
DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
BASES = (("calls/calls.toml", "gfx90a"), ("reduce/reduce.toml", "gfx1100"), ("histogram/histogram.toml", "gfx90a"))
COMMANDS = (
    "record restore file.rec", "info record", "continue", "record goto end", "info threads", "info registers s0 v0 exec pc mode",
    "reverse-stepi", "record goto begin", "stepi", "stepi", "print $s3", "bt", "continue", "continue", "record goto end", "kill",
)
REPORTS = ("info threads", "bt")
"""Commands that print a state at length."""
HARD: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 5, 24, 63, 64, 127, 128, 255, 256, 1023, 1024, 4096, 65535, 65536, (1 << 31) - 1, 1 << 31, (1 << 32) - 1,
    1 << 32, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, -8320, -(1 << 63), 0x7F00_0010_0000, 0x7F00_0000_0000,
    None, True, False, 0.0, 1.5, float("nan"), float("inf"), "", "x", "s3", "v0", "pc", "lds_pointer", "limit", "clock", "madvise",
    "\0", "\x1b]0;x\x07", b"", b"\0", b"\xff" * 8, b"\x42" * 64, [], [0], {}, {"x": 1}, "9" * 400, "A" * 70_000,
)
_NAMES = (
    "s0", "s3", "s105", "s106", "vcc_lo", "exec_lo", "exec_hi", "m0", "ttmp0", "ttmp15", "v0", "v255", "v256", "v1023", "a0", "a255",
    "null", "pc", "scc", "mode", "status", "trapsts", "flat_scratch", "hw_id", "lds_pointer", "lds_size", "limit", "instructions",
    "number", "scratch_base", "vgpr_limit", "register_bounds", "used_lanes", "states", "clock", "madvise", "V0", "s-1", "s03", "s1e1",
)


@dataclass(frozen=True)
class Recording:
    """A hostile recording."""

    data: bytes

    @property
    def files(self) -> dict[str, bytes]:
        return {"file.rec": self.data}

    @property
    def commands(self) -> tuple[str, ...]:
        """All commands for one in four inputs, and those that replay for the others: printing a state takes most of the
        time.
        """
        return COMMANDS if zlib.crc32(self.data) % 4 == 0 else tuple(c for c in COMMANDS if c not in REPORTS)


@functools.cache
def sound(base: int) -> bytes:
    """A recording of a run to which its user did several things."""
    file, target = BASES[base]
    session = Session()
    session.load(DEMOS / file, target)
    session.break_at(session.launch.kernel.name)
    session.run()
    for _ in range(5):
        session.running.stepi()
    thread, target_ = session.focus.current.thread, session.inferior.target
    assert thread is not None and target_ is not None
    target_.write_register(thread, 35, b"\7\0\0\0")  # s3
    session.running.stepi()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.rec"
        session.save_recording(path)
        session.launch.release()
        return path.read_bytes()


@functools.cache
def decoded(base: int) -> Any:
    """The content as lists and dictionaries."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.rec"
        path.write_bytes(sound(base))
        return msgspec.msgpack.decode(msgspec.msgpack.encode(recording_file_format.load(path)))


def encoded(content: object) -> bytes:
    """A file with some content, with correct checksums."""
    return framed(msgspec.msgpack.encode(content))


def framed(content: bytes, **changes: Any) -> bytes:
    """A file with these bytes as its content. ``changes``: false values of ``size``, ``packed`` or ``crc`` in blocks.
    """
    pack = zstandard.ZstdCompressor(level=1, write_content_size=changes.get("sized", True))
    parts = [recording_file_format.MAGIC, struct.pack("<I", recording_file_format.VERSION)]
    for at in range(0, max(len(content), 1), 4 << 20):
        piece = content[at : at + (4 << 20)]
        packed = pack.compress(piece)
        size, taken = changes.get("size", len(piece)), changes.get("packed", len(packed))
        parts += [struct.pack("<QQI", size, taken, changes.get("crc", zlib.crc32(packed))), packed]
    return b"".join(parts)


# -- changes of the decoded form


def _anything(rng: random.Random, tree: Any) -> None:
    """A value somewhere is changed (to a right or wrong type), removed, duplicated, or taken from another place."""
    places = list(_places(tree))
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        holder, key = rng.choice(places)
        try:
            old = holder[key]
        except (KeyError, IndexError):
            continue
        way = rng.randrange(6)
        if way == 0 and isinstance(old, int) and not isinstance(old, bool):
            holder[key] = max(-(1 << 63), min((1 << 64) - 1, old + rng.choice((-2, -1, 1, 2, 1 << rng.randrange(64)))))
        elif way == 1 and isinstance(old, bytes):
            at = rng.randrange(len(old) + 1)
            holder[key] = rng.choice((old[:at], old + bytes(rng.randrange(5000)), old[:at] + rng.randbytes(8) + old[at + 8 :]))
        elif way == 2 and isinstance(holder, list):
            if rng.randrange(2):
                holder.insert(key, copy.deepcopy(old))
            else:
                del holder[key]
        elif way == 3 and isinstance(holder, dict):
            del holder[key]
        elif way == 4:
            other, where = rng.choice(places)
            try:
                holder[key] = copy.deepcopy(other[where])
            except (KeyError, IndexError):
                continue
        else:
            holder[key] = rng.choice(HARD)


def _places(tree: Any) -> Any:
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])


def _place(rng: random.Random) -> list[Any]:
    wave = rng.choice((1, 1, 2, 3, 4, 16, 17, 64, 128, 129, 1000, 0, -1, -2, -3, 1 << 40))
    offset = rng.choice((0, 0, 4, 24, 60, 64, 252, 256, 1020, 1024, 4092, 65532, 65536, -4, -8320, 1 << 20, 1 << 62))
    memory = rng.choice((0x7F00_0010_0000, 0x7F00_0020_0000, 0x7F00_0030_0000, 0x7F00_0040_0000, 0, offset, 0x7F00_0010_0000 + offset))
    return rng.choice((
        ["register", wave, rng.choice(_NAMES), rng.choice((0, 0, 1, 31, 32, 63, 64, -1))], ["register", wave, rng.choice(_NAMES)],
        ["special", wave, rng.choice(_NAMES)], ["lds", wave, offset], ["gds", offset],
        ["gws", rng.choice((0, 1, 63, 64, -1, 1 << 40))], ["memory", memory], ["memory", memory], ["engine", wave, offset], [],
    ))


def _writes(rng: random.Random, tree: Any) -> None:
    """Additional writes: to places that exist, nearly exist or do not exist, with too few, too many or the right bytes.
    """
    journal = tree["journal"]
    for _ in range(rng.choice((1, 1, 2, 20))):
        at = rng.randrange(len(journal) + 1)
        end = journal[at - 1][1] if at and isinstance(journal[at - 1], list) else 0
        data = rng.randbytes(rng.choice((4, 4, 4, 8, 1, 0, 16, 64, 256, 260, 1024, 4096, 5000)))
        if rng.random() < 0.3:
            data = rng.choice((0, 1, 0x42424242, (1 << 64) - 1, 0x7F00_0010_0000)).to_bytes(8, "little")
        journal.insert(at, ["w", end + rng.choice((0, 0, 0, 0, 1, -1)), _place(rng), data])


def _turns(rng: random.Random, tree: Any) -> None:
    """Turns for waves that exist and do not exist, for more and fewer instructions, with odd schedules."""
    journal, end = tree["journal"], tree["end"]
    for _ in range(rng.choice((1, 2, 5))):
        at = rng.randrange(len(journal) + 1)
        start = journal[at - 1][1] if at else 0
        wave = rng.choice((0, 1, 2, 3, 16, 17, 128, 129, 1 << 30, -1))
        numbers = [rng.choice((0, 1, 2, wave, 100, 10_000, 1 << 32, (1 << 62), (1 << 64) - 1, -1)) for _ in range(4)]
        journal.insert(at, rng.choice((["g", start + rng.choice((0, 1, 3, 100)), wave, *numbers], ["f", start + rng.choice((1, 7, -1))])))
    if rng.randrange(2):
        tree["end"] = journal[-1][1] if rng.randrange(2) else end + rng.choice((1, -1, 1 << 40))
    for at, entry in enumerate(journal[1:], 1):  # mostly in order, to come farther
        if rng.random() < 0.9 and entry[1] < journal[at - 1][1]:
            entry[1] = journal[at - 1][1]
    if rng.random() < 0.8:
        tree["end"] = journal[-1][1]


def _launch(rng: random.Random, tree: Any) -> None:
    """A changed launch: sizes, options, arguments, truncated code."""
    way = rng.randrange(6)
    if way == 0:
        tree[rng.choice(("grid", "workgroup"))][rng.randrange(3)] = rng.choice((0, 1, 63, 64, 65, 1023, 1024, 1025, -1, 1 << 16))
    elif way == 1:
        options = tree["options"]
        options[rng.choice(list(options))] = rng.choice((*HARD, "random 3", "lockstep 1", "one-at-a-time", "drop"))
    elif way == 2:
        tree["dynamic_lds"] = rng.choice((0, 1, 65536, 1 << 31, -1))
    elif way == 3 and tree["arguments"]:
        argument = rng.choice(tree["arguments"])
        argument[rng.choice(list(argument))] = rng.choice(HARD)
    elif way == 4:
        code = rng.choice(tree["code"])
        data = bytearray(code["data"])
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        code["data"] = bytes(data if rng.randrange(4) else data[: rng.randrange(len(data))])
    else:
        tree["kernarg"], tree["offsets"] = rng.choice((b"", bytes(64), bytes(9000))), [rng.choice((0, 8, 1 << 20, -8)) for _ in tree["arguments"]]


def _structured(*ways: Callable[[random.Random, Any], None]) -> Callable[[random.Random], bytes]:
    def make(rng: random.Random) -> bytes:
        tree = copy.deepcopy(decoded(rng.randrange(len(BASES))))
        for way in ways:
            with suppress(TypeError, AttributeError, KeyError, IndexError):  # another has made this something else
                way(rng, tree)
        return encoded(tree)

    return make


def _bytes(rng: random.Random) -> bytes:
    """Changed bytes of the file, or of its content inside a correct frame."""
    base = rng.randrange(len(BASES))
    inside = rng.randrange(3)
    data = bytearray(msgspec.msgpack.encode(decoded(base)) if inside else sound(base))
    way = rng.randrange(4)
    if way == 0:
        del data[rng.randrange(len(data)) :]
    elif way == 1:
        at = rng.randrange(len(data))
        data[at:at] = rng.randbytes(rng.randrange(1, 50))
    else:
        for _ in range(rng.choice((1, 1, 3, 20))):
            data[rng.randrange(min(len(data), rng.choice((24, 200, 1 << 30))))] ^= 1 << rng.randrange(8)
    return framed(bytes(data)) if inside else bytes(data)


def _frames(rng: random.Random) -> bytes:
    """Frames with false sizes, checksums, bombs, depth."""
    content = msgspec.msgpack.encode(decoded(0))
    way = rng.randrange(6)
    if way == 0:
        return framed(content, size=rng.choice((0, 1, 1 << 22, (1 << 22) + 1, 1 << 40, (1 << 64) - 1)), sized=bool(rng.randrange(2)))
    if way == 1:
        return framed(content, packed=rng.choice((0, 1, 1 << 40, (1 << 64) - 1)))
    if way == 2:  # a frame that says it unpacks to terabytes
        body = struct.pack("<IBQ", 0xFD2FB528, 0xE0, 1 << rng.randrange(20, 63)) + b"\x01\0\0"
        return recording_file_format.MAGIC + struct.pack("<IQQI", recording_file_format.VERSION, 1 << 20, len(body), zlib.crc32(body)) + body
    if way == 3:  # little that unpacks to much
        block = zstandard.ZstdCompressor().compress(bytes(4 << 20))
        head = struct.pack("<QQI", 4 << 20, len(block), zlib.crc32(block))
        return recording_file_format.MAGIC + struct.pack("<I", recording_file_format.VERSION) + (head + block) * rng.choice((3, 30))
    if way == 4:
        return framed(rng.choice((b"\x91", b"\x81\xa1a")) * rng.choice((100, 2000, 100_000)))
    return recording_file_format.MAGIC + struct.pack("<I", rng.choice((0, 1, 3, 1 << 31))) + sound(0)[20:]


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "anything": _structured(_anything), "writes": _structured(_writes), "turns": _structured(_turns), "launch": _structured(_launch),
    "writes of another launch": _structured(_launch, _writes), "turns and writes": _structured(_turns, _writes),
    "several": _structured(_writes, _anything), "bytes": _bytes, "frames": _frames,
}
NAMES = tuple(KINDS)


def attack_of(number: int) -> tuple[str, Recording]:
    """The recording with a number, and its kind; they are always the same for a number."""
    kind = NAMES[number % len(NAMES)]
    return kind, Recording(KINDS[kind](random.Random(f"{kind} {number}")))


_idle: list[tuple[Shell, io.StringIO]] = []
"""A shell that has only refused recordings: each has left it unchanged, so the next one is tried in it."""


def _fresh() -> tuple[Shell, io.StringIO]:
    out = io.StringIO()
    return Shell(Session(), Writer(out), Writer(out), interactive=False, registry=kinds._shared_registry()), out


def _keep(shell: Shell, out: io.StringIO) -> None:
    """Check that a refused recording has changed nothing: no program, no launch."""
    session = shell.session
    if session.inferior.target is not None or session.launch.programs or session.launch.spec != LaunchSpec():
        raise AssertionError("a refused recording has left something in the session")
    out.seek(0)
    out.truncate()
    _idle.append((shell, out))


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt after this much processor time, and again until the block has ended.

    Python prints and discards an exception raised inside a callback, such as one of the garbage collector. The
    exception is therefore raised only in code of rocdbg, at one of the next ticks of the clock.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename.startswith(CODE):
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.25)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before or signal.SIG_DFL)


def survive(attack: Recording, folder: Path, log: kinds.Log | None = None) -> int:
    """Restore a recording and replay it; raises anything that is not a `rocdbg.Error`. Returns how many steps worked.
    """
    log = log or kinds.Log()
    path = folder / "file.rec"
    path.write_bytes(attack.data)
    shell, out = _idle.pop() if _idle else _fresh()
    session = shell.session
    worked = 0

    for command in attack.commands:
        try:
            with interrupted_after(0.7):  # a kernel may run for ever: somebody presses Ctrl-C
                shell.execute(command.replace("file.rec", str(path)))
            worked += 1
        except Error as error:
            log.error(error)
            if command.startswith("record restore"):
                _keep(shell, out)
                return worked
        except Quit:
            break
        except KeyboardInterrupt:
            break
        log.written(out.getvalue())
        out.seek(0)
        out.truncate()
    session.launch.release()
    return worked


def warm_up(folder: Path) -> None:
    """Make the sound recordings, and everything that workers need; sound recordings must be accepted, or nothing is
    tested.
    """
    for base in range(len(BASES)):
        decoded(base)
        if not survive(Recording(sound(base)), folder):
            raise RuntimeError(f"the sound recording {base} is refused")


__all__ = ["BASES", "KINDS", "NAMES", "Recording", "Written", "attack_of", "decoded", "encoded", "framed", "sound", "survive", "warm_up"]
