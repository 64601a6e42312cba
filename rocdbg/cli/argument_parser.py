"""The parser of command lines: `rocdbg` and the tools behind its name."""

from __future__ import annotations

import argparse
from typing import NoReturn

from rocdbg.cli.visible_text import visible


class ArgumentParser(argparse.ArgumentParser):
    """Names of files are among the arguments (``rocdbg *``): a message about them shows no control sequences."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))
