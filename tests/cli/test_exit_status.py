"""Options as in GDB, and the outcome of launches in the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
DEMOS = ROOT / "demo_kernels"
RESULT = ["-return-child-result"]
STRICT = ["-iex", "set exit-status strict"]


@pytest.fixture(name="unexpected")
def unexpected_fixture(tmp_path: Path) -> str:
    """A launch whose buffer differs from the expected contents."""
    folder = DEMOS / "divergence"
    text = (folder / "divergence.toml").read_text().replace('"file:expected.npy"', '"zeros"')
    path = tmp_path / "unexpected.toml"
    path.write_text(text.replace('file = "', f'file = "{folder}/').replace("file:", f"file:{folder}/"))
    return str(path)


GOOD = str(DEMOS / "divergence" / "divergence.toml")
FAULT = str(DEMOS / "wildaccess" / "wildaccess.toml")


@pytest.mark.parametrize(
    ("options", "launch", "commands", "status"),
    [
        ([], "unexpected", ["run"], 0),
        (RESULT, "unexpected", ["run"], 1),
        (STRICT, "unexpected", ["run"], 1),
        ([], FAULT, ["run"], 0),
        (RESULT, FAULT, ["run"], 1),
        (STRICT, FAULT, ["run"], 1),
        (STRICT, FAULT, ["catch exception", "run"], 1),
        (RESULT, FAULT, ["run", "continue"], 1),
        (RESULT, GOOD, ["run"], 0),
        (STRICT, GOOD, ["run"], 0),
        (STRICT, GOOD, ["break 12", "run"], 0),
        (RESULT, GOOD, ["print 1"], 255),
        (STRICT, GOOD, ["print 1"], 0),
        (RESULT, GOOD, ["run", "nosuch"], 1),
        (RESULT, FAULT, ["run", "quit"], 1),
        (RESULT, FAULT, ["run", "quit 3"], 3),
        (STRICT, FAULT, ["run", "quit 0"], 0),
        (STRICT, "unexpected", ["run", "set exit-status gdb"], 0),
    ],
)
def test_launches(
    options: list[str], launch: str, commands: list[str], status: int, unexpected: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    arguments = ["-nx", "-batch", *options, unexpected if launch == "unexpected" else launch]
    for command in commands:
        arguments += ["-ex", command]
    assert main(arguments) == status


@pytest.mark.parametrize(
    ("options", "output", "status"),
    [
        (["-cd", "/", "-ex", "pwd"], "Working directory /.\n", 0),
        (["--cd", "/nosuch", "-ex", "print 1"], "$1 = 1\n", 1),
        (["-d", "/usr", "-directory", "/", "-ex", "show directories"],
         "Source directories searched: /:/usr:$cdir:$cwd\n", 0),
        (["-l", "7", "-ex", "show remotetimeout"], "Timeout limit to wait for target to respond is 7.\n", 0),
        (["-nw", "-ex", "print 1"], "$1 = 1\n", 0),
        (["-w", "--nowindows", "-ex", "print 1"], "$1 = 1\n", 0),
        (["-p", "1", "-ex", "print 1"], "$1 = 1\n", 1),
        (["-batch-silent", "-ex", "print 1", "-ex", "help list"], "", 0),
        (["--batch-silent", "-ex", "nosuch"], "", 1),
        (["-tui", "-ex", "print 1"], "", 1),
    ],
)
def test_options(
    options: list[str], output: str, status: int, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)  # back to it, wherever -cd went
    assert main(["-nx", "-batch", *options]) == status
    assert capfd.readouterr().out == output


def test_what_kernels_print_is_not_silenced(capfd: pytest.CaptureFixture[str]) -> None:
    from rocdbg.cli.main import _make_shell, make_parser
    from rocdbg.cli.program_output import show_output

    shell = _make_shell(make_parser().parse_args(["-batch-silent"]))
    shell.line("of a command")
    show_output(shell, "of a kernel\n", is_error=False)
    assert capfd.readouterr().out == "of a kernel\n"
