"""Programs and sessions that are ended at random moments: the exit status must be the documented one, and nothing may
be left behind.

    python benchmarks/ends.py [ROUNDS] [--first NUMBER] [--fronts run,debug] [--seconds S] [--forked]
    python benchmarks/ends.py --replay NUMBER

A round's number determines the front end, the kind of end and the delay before it; every second round has new
translations. Prints the bad rounds and, at the end, the number of ends of each kind. Several instances may run in
parallel, each from a different first number.

Starting Python and importing modules takes most of the time. ``--forked`` forks each round from a process that has done
so already: three times as many rounds, none of which ends while modules are imported.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "tests" / "host" / "sources" / "kernels.gfx90a.co"
TIMEOUT = 60
"""Seconds of processor time that an end may take."""
PATIENCE = 900
"""Seconds that it may take on a busy machine: a process that waits for ever takes no processor time."""
YOUNG = 0.6
"""Seconds in which a signal may arrive before Python handles any: the signal itself then ends the process."""

CLIENT = """
import ctypes, os, signal, struct, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
Path(sys.argv[3]).write_text(str(os.getpid()))
from hsa import Gpu, call, signal as new_signal, wait
call("hsa_init")
gpu = Gpu()
code = gpu.load(Path(sys.argv[2]).read_bytes(), {"outside": gpu.allocate(64)})
queue = gpu.queue()
data = gpu.allocate(1 << 16)
done = new_signal(3)
kernels = {
    "saxpy": struct.pack("<f4xQQi", 2.0, data, data + 512, 128), "positions": struct.pack("<QII", data, 128, 1),
    "reversed": struct.pack("<Q", data),
}
for name, arguments in kernels.items():
    queue.launch(code.kernel(name), arguments, [128], [64], done, group=256)
Path(sys.argv[3] + "-launched").touch()
end = sys.argv[4]
if end == "exit":
    time.sleep(float(sys.argv[5]))
    os._exit(7)
if end == "crash":
    time.sleep(float(sys.argv[5]))
    os.kill(os.getpid(), signal.SIGSEGV)
sys.exit(4 if wait(done, timeout=900_000_000_000) else 3)
"""

FORKING = """
import importlib, json, os, sys
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(name)
    except ImportError:
        pass  # of a platform, or made at run time
from rocdbg import early
from rocdbg.__main__ import run
for line in open(0, closefd=False):
    arguments, environment, output = json.loads(line)
    child = os.fork()
    if child:
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    sys.argv = ["rocdbg", *arguments]
    early.prepare()
    os.environ.clear()
    os.environ.update(environment)
    for target, path, flags in ((0, os.devnull, os.O_RDONLY), (1, output, os.O_WRONLY | os.O_CREAT)):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, target)
        os.close(opened)
    os.dup2(1, 2)
    sys.exit(run())
"""
"""Forks a process for each line: arguments, environment and output file. Prints its number, and its status."""
MODULES = """
import atexit, json, os, sys
atexit.register(lambda: json.dump(sorted(sys.modules), open(os.environ["MODULES"], "w")))
sys.argv[0] = "rocdbg"
from rocdbg.__main__ import run
sys.exit(run())
"""

RUN_ENDS = ("exit", "crash", "whole", "TERM", "HUP", "INT", "KILL", "KILL program")
DEBUG_ENDS = ("whole", "TERM", "HUP", "INT", "KILL", "KILL program", "quit")


class Forking:
    """A process that has imported all modules, and forks."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", FORKING, json.dumps(modules)], cwd=ROOT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdin is not None and self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout

    def start(self, arguments: Sequence[str], environment: dict[str, str], output: Path) -> Forked:
        self.requests.write(json.dumps([arguments, environment, str(output)]) + "\n")
        self.requests.flush()
        return Forked(self, int(self.answers.readline()), output)


class Forked:
    """A process that was forked, with the used part of the interface of `subprocess.Popen`."""

    def __init__(self, forking: Forking, pid: int, output: Path) -> None:
        self.forking, self.pid, self.output = forking, pid, output
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self.forking.answers], [], [], 0)[0]:
            self.returncode = int(self.forking.answers.readline())
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        if self.returncode is None and not select.select([self.forking.answers], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("rocdbg", timeout or 0)
        self.poll()
        return self.output.read_text(errors="replace") if self.output.exists() else "", None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Round:
    """One end, made from a number. ``home`` has the folders that it uses."""

    def __init__(self, number: int, fronts: Sequence[str], home: Path, forking: Forking | None = None) -> None:
        chance = random.Random(number)
        self.number, self.home, self.forking = number, home, forking
        self.front = chance.choice(fronts)
        self.end = chance.choice(RUN_ENDS if self.front == "run" else DEBUG_ENDS)
        self.cold = chance.random() < 0.5
        self.delay = chance.random() * chance.choice((0.1, 0.5, 1, 3))
        self.lived = 0.0

    def __str__(self) -> str:
        return f"{self.number}: {self.front}, {self.end} after {self.delay:.3f} s, {'cold' if self.cold else 'warm'}"

    def run(self) -> list[str]:
        """Run the round; return the problem."""
        folder = Path(tempfile.mkdtemp(dir=self.home))
        cache = self.home / "warm"
        if self.cold:
            cache = folder / "cache"
            cache.mkdir(mode=0o700)
            shutil.copytree(self.home / "warm" / "host", cache / "host", symlinks=True)
        else:  # entries of the cache are used only with the key that they were made with
            shutil.copytree(self.home / "user", folder, dirs_exist_ok=True)
        try:
            return self._run(folder, cache)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, folder: Path, cache: Path) -> list[str]:
        note = folder / "client"
        environment = {**os.environ, "ROCDBG_CACHE_DIR": str(cache), "HOME": str(folder), "TMPDIR": str(folder)}
        (folder / "client.py").write_text(CLIENT)
        client = [sys.executable, "-S", str(folder / "client.py"), str(ROOT / "tests" / "host"), str(KERNELS)]
        client += [str(note), self.end if self.end in ("exit", "crash") else "whole", str(self.delay)]
        command = [sys.executable, "-m", "rocdbg"]
        if self.front == "run":
            command += ["run", "--gpu", "gfx90a", *client]
        else:
            last = "quit 5" if self.end != "quit" else "quit 6"
            stop = ["-ex", "break saxpy"] if self.end == "quit" else []
            command += ["-nx", "-batch", "-gpu", "gfx90a", "-iex", "set breakpoint pending on", *stop, "-ex", "run"]
            command += ["-ex", last, "-args", *client]
        began = time.monotonic()
        process = self.forking.start(command[3:], environment, folder / "output") if self.forking else subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        if self.end in ("TERM", "HUP", "INT", "KILL", "KILL program"):
            if random.Random(-self.number).random() < 0.7:  # most of them after the launch
                self._wait_for(Path(f"{note}-launched"), process)
            time.sleep(self.delay)
            self._send(process, note)
        while True:
            try:
                output, _ = process.communicate(timeout=5)
                break
            except subprocess.TimeoutExpired:
                if _processor_time(process.pid) > TIMEOUT or time.monotonic() - began > PATIENCE:
                    process.kill()
                    process.communicate()
                    return ["it does not end"]
        self.lived = time.monotonic() - began
        wrong = [] if process.returncode in self._promised() else [f"status {process.returncode}: {output[-300:]!r}"]
        # Python itself still starts: nothing of rocdbg runs before `early`, which the package imports first.
        # A traceback without a file of the package is the program's: its GPU is gone.
        ours = set(re.findall(rf'File "{re.escape(str(ROOT / "rocdbg"))}/([^"]*)"', output))
        starting = self.end == "INT" and self.delay < YOUNG
        if ours - ({"__init__.py", "early.py"} if starting else set()):
            wrong.append(f"a traceback: {output[-600:]}")
        return wrong + self._left_behind(process.pid, note, cache, folder)

    def _wait_for(self, path: Path, process: subprocess.Popen[str] | Forked) -> None:
        while not path.exists() and process.poll() is None:
            time.sleep(0.005)

    def _send(self, process: subprocess.Popen[str] | Forked, note: Path) -> None:
        if self.end == "KILL program":
            self._wait_for(note, process)
            text = note.read_text() if note.exists() else ""
            if text:
                with suppress(ProcessLookupError):
                    os.kill(int(text), signal.SIGKILL)
        else:
            process.send_signal(getattr(signal, f"SIG{self.end}"))

    def _promised(self) -> set[int]:
        """The statuses that are right."""
        whole = {3} if self.front == "run" else {5, 6}
        number = {"TERM": 15, "HUP": 1, "INT": 2, "KILL": 9}.get(self.end, 0)
        if self.end == "exit":
            return {7}
        if self.end == "crash":
            return {128 + 11}
        if self.end == "KILL":
            return {-9} | whole
        if self.end == "KILL program":
            return {128 + 9} | whole if self.front == "run" else whole
        if not number:
            return whole
        young = {-number} if self.delay < YOUNG else set()
        if self.end == "INT" and self.front == "debug":
            return {5, 1, 130} | young  # it stops the program, or ends a command
        return {128 + number} | whole | young

    def _left_behind(self, pid: int, note: Path, cache: Path, folder: Path) -> list[str]:
        wrong = []
        text = note.read_text() if note.exists() else ""
        if text and not _gone(int(text)):
            wrong.append(f"the program {text} lives on")
            os.kill(int(text), signal.SIGKILL)
        name = f"rocdbg-{pid}-"
        if any(name in line for line in Path("/proc/net/unix").read_text().splitlines()):
            wrong.append("its socket is left")
        wrong += [f"/dev/shm/{entry.name} is left" for entry in Path("/dev/shm").iterdir() if "rocdbg" in entry.name]
        if self.end != "KILL":  # what a process left that was killed is removed by the next
            wrong += [f"{entry} is left" for entry in cache.glob("*/new/*")]
            wrong += [f"{entry} is left" for entry in cache.glob("host/building-*")]
        known = {"output", "client.py", "client", "client-launched", "cache", ".local"}
        wrong += [f"{entry.name} is left" for entry in folder.iterdir() if entry.name not in known]
        wrong += [entry.read_text() for entry in folder.glob(".local/state/rocdbg/internal-error-*")]
        return wrong


def _processor_time(pid: int) -> float:
    """Seconds of processor time that a child has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _gone(pid: int) -> bool:
    """Whether a process has ended; waits for a short time."""
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def warm_up(home: Path) -> None:
    """Make the folders of rounds: the cache of warm ones, and the user's folder with its key."""
    user = home / "user"
    for folder in (home / "warm", user):
        folder.mkdir(mode=0o700)
    (user / "client.py").write_text(CLIENT)
    client = [sys.executable, "-S", str(user / "client.py"), str(ROOT / "tests" / "host"), str(KERNELS)]
    environment = {**os.environ, "ROCDBG_CACHE_DIR": str(home / "warm"), "HOME": str(user)}
    command = [sys.executable, "-m", "rocdbg", "run", "--gpu", "gfx90a", *client, str(user / "client"), "whole", "0"]
    done = subprocess.run(command, cwd=ROOT, env=environment)
    if done.returncode != 3:
        raise SystemExit(f"ends: the program does not run: status {done.returncode}")
    for path in user.glob("client*"):
        path.unlink()


def modules_of_a_run(home: Path) -> list[str]:
    """The modules that a whole run in a debugger imports, with new translations."""
    found, user = home / "modules", home / "first"
    user.mkdir(mode=0o700)
    (user / "client.py").write_text(CLIENT)
    client = [sys.executable, "-S", str(user / "client.py"), str(ROOT / "tests" / "host"), str(KERNELS)]
    environment = {**os.environ, "ROCDBG_CACHE_DIR": str(user / "cache"), "HOME": str(user), "MODULES": str(found)}
    names: set[str] = set()
    for front in (["run"], ["-nx", "-batch", "-iex", "set breakpoint pending on", "-ex", "break saxpy", "-ex", "run"]):
        gpu = "--gpu" if front == ["run"] else "-gpu"
        command = [sys.executable, "-c", MODULES, front[0], gpu, "gfx90a", *front[1:]]
        command += [] if front == ["run"] else ["-ex", "continue", "-args"]
        subprocess.run(
            [*command, *client, str(user / "client"), "whole", "0"], cwd=ROOT, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        names |= set(json.loads(found.read_text()))
    return sorted(name for name in names if name != "__main__")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--fronts", default="run,debug")
    parser.add_argument("--replay", type=int)
    parser.add_argument("--forked", action="store_true")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="rocdbg-ends-"))
    ends: Counter[str] = Counter()
    bad = 0
    try:
        warm_up(home)
        forking = Forking(modules_of_a_run(home)) if options.forked else None
        numbers = range(options.first, options.first + options.rounds)
        if options.replay is not None:
            numbers = range(options.replay, options.replay + 1)
        began = time.monotonic()
        for number in numbers:
            if time.monotonic() - began > options.seconds:
                break
            one = Round(number, options.fronts.split(","), home, forking)
            wrong = one.run()
            ends[f"{one.front}, {one.end}"] += 1
            bad += bool(wrong)
            for text in wrong:
                print(f"{one}: {text}", flush=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(f"{sum(ends.values())} rounds, {bad} bad: {', '.join(f'{n} {what}' for what, n in sorted(ends.items()))}")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
