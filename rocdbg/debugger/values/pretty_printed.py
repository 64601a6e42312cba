"""What pretty-printers give."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from rocdbg.debugger.values.value import Value


class Pretty(Struct, frozen=True):
    """What a pretty-printer makes of a value.

    ``text`` is the summary (``None`` for none); ``children`` are (name, value) pairs, shown as members,
    or as elements when ``hint`` is ``array``; with ``string`` the text is shown in quotes.
    """

    text: str | None = None
    children: Sequence[tuple[str, Value]] = ()
    hint: str = ""


PrettyPrinter = Callable[[Value], "Pretty | str | None"]
"""Gives ``None`` for values that are not its business."""
