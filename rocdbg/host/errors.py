"""Errors of requests by programs."""

from __future__ import annotations

from rocdbg.errors import Error
from rocdbg.host.protocol import Status


class RequestError(Error):
    """A request that cannot be met. ``status`` is what the program receives."""

    def __init__(self, status: Status, reason: str) -> None:
        self.status = status
        super().__init__(reason)
