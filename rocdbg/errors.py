"""The base class of all errors that rocdbg reports about bad input or a bad request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_T = TypeVar("_T")


class Error(Exception):
    """Bad input or a bad request.

    The message is one line that names what is wrong, where, and where possible what to do.
    Subclasses carry the data the message was built from (address, offset, name, lane, ...) as
    attributes. Anything that is not an ``Error`` is a bug in rocdbg and must surface as one.
    """


class remembered(Generic[_T]):
    """Like `functools.cached_property`, for values whose computation may fail: an `Error` is cached too, and raised
    again.

    Detecting damage in large data takes as long as reading the data, and the value may be requested in a loop.
    """

    def __init__(self, read: Callable[[Any], _T]) -> None:
        self._read = read
        self.__doc__ = read.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._failure = f"_{name}_failure"

    @overload
    def __get__(self, instance: None, owner: type) -> remembered[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> remembered[_T] | _T:
        if instance is None:
            return self
        kept = instance.__dict__
        if self._failure in kept:
            error: Error = kept[self._failure]
            raise error.with_traceback(None)
        try:
            value = self._read(instance)
        except Error as error:
            kept[self._failure] = error
            raise
        kept[self._name] = value  # from now on, attribute access finds the value there without calling this
        return value
