"""The example in docs/plugins.md works as described."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

from rocdbg import plugin
from rocdbg.cli.shell import Shell

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "plugins.md").read_text()


def test_the_example(tmp_path: Path, make_shell: Callable[..., tuple[Shell, io.StringIO]]) -> None:
    source = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert source is not None
    path = tmp_path / "example.py"
    path.write_text(source[1])
    shell, text = make_shell("calls/calls.toml")
    shown = 0
    for line in PAGE.partition("```\n")[2].partition("## What")[0].splitlines():
        line = line.strip()
        if line.startswith("(rocdbg) "):
            command = line.removeprefix("(rocdbg) ").replace("example.py", str(path))
            text.seek(0)
            text.truncate()
            shell.execute(command)
        elif line:
            assert line in text.getvalue().splitlines(), command
            shown += 1
    assert shown == 3


def test_the_page_names_the_whole_interface() -> None:
    for name in dir(plugin.PluginApi):
        assert name.startswith("_") or f"api.{name}" in PAGE, name
    for name in plugin.__all__:
        assert re.search(rf"\b{name}\b", PAGE), name
