"""The one base class of everything rocdbg reports about bad input or a bad request."""

from __future__ import annotations


class Error(Exception):
    """Bad input or a bad request.

    The message is one line that names what is wrong, where, and where possible what to do.
    Subclasses carry the data the message was built from (address, offset, name, lane, ...) as
    attributes. Anything that is not an ``Error`` is a bug in rocdbg and must surface as one.
    """
