"""The command line parser of every front end."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

from rocdbg.streams import StreamLost, complain
from rocdbg.text import printable

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser whose messages do not contain control sequences, because arguments may be names of files
    (``rocdbg *``). If help cannot be written, it raises `StreamLost`, which argparse would ignore.
    """

    def error(self, message: str) -> NoReturn:
        super().error("\n".join(printable(line) for line in message.split("\n")))

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if file is None or file is sys.stderr:
            complain(message.removesuffix("\n"))
            return
        try:
            file.write(message)
        except (OSError, ValueError) as error:
            raise StreamLost(error) from None
