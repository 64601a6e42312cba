"""Descriptions of a buffer's contents: ``zeros``, ``arange``, ``random:7``, ``file:data.npy``, ``[1, 2,
3]``.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.launch.elements import ArrayType, encode
from rocdbg.launch.errors import LaunchError, shown
from rocdbg.launch.npy_file import NpyError, NpyTooLargeError, read_npy
from rocdbg.regular_file import FileAccessError

_PIECE = 1 << 20
"""Elements that are converted at a time; a multiple of the random generator's block size."""
_WIDEST = 16
"""Bytes of the widest number of a .npy file."""


class ContentKind(Enum):
    """How contents are described; the value is the word (or prefix) that selects it."""

    ZEROS = "zeros"
    ONES = "ones"
    ARANGE = "arange"
    RANDOM = "random"
    FILE = "file"
    LIST = "list"


class Contents(Struct, frozen=True):
    """A description of contents, not yet bound to a buffer. ``where`` names it in messages (``arg 1 init``)."""

    kind: ContentKind
    where: str
    seed: int = 0
    path: Path | None = None
    values: tuple[int | float | bool, ...] = ()
    given: bool = True
    """Whether the launch states the contents; if not, they are zeros and count as never written."""

    def __str__(self) -> str:
        """The description's text."""
        if self.kind is ContentKind.FILE:
            return f"file:{self.path}"
        if self.kind is ContentKind.RANDOM:
            return f"random:{self.seed}"
        if self.kind is ContentKind.LIST:
            shown = ", ".join(map(str, self.values[:8]))
            return f"[{shown}{', ...' if len(self.values) > 8 else ''}]"
        return str(self.kind.value)

    @classmethod
    def unset(cls, where: str) -> Contents:
        """Unspecified contents."""
        return cls(ContentKind.ZEROS, where, given=False)

    @classmethod
    def parse(cls, description: object, where: str, directory: Path | None = None) -> Contents:
        """Read a description in the syntax of launch files and commands; relative files are in ``directory``.

        Raises LaunchError.
        """
        if isinstance(description, list):
            return cls._of_list(description, where)
        if not isinstance(description, str):
            raise LaunchError(where, f"expected text or a list, found {shown(description)}")
        text = description.strip()
        if text.startswith("["):
            return cls._of_list(_numbers(text, where), where)
        word, colon, rest = text.partition(":")
        if word in ("zeros", "ones", "arange") and not colon:
            return cls(ContentKind(word), where)
        if word == "random" and colon:
            try:
                seed = int(rest, 0)
                if 0 <= seed < 1 << 128:
                    return cls(ContentKind.RANDOM, where, seed=seed)
                raise LaunchError(where, f"the seed must be from 0 to 2**128-1, not {shown(seed)}")
            except ValueError:
                raise LaunchError(where, f"the seed `{shown(rest)[1:-1]}` is not a number; write random:42") from None
        if word == "file" and rest:
            try:
                path = Path(rest).expanduser()
            except RuntimeError as error:
                raise LaunchError(where, f"{shown(rest)}: {error}") from None
            return cls(ContentKind.FILE, where, path=path if directory is None else directory / path)
        raise LaunchError(
            where, f"unknown contents `{shown(text)[1:-1]}`; use zeros, ones, arange, random:SEED, file:NAME.npy or a "
            "list such as [1, 2, 3]"
        )

    @classmethod
    def _of_list(cls, values: list[object], where: str) -> Contents:
        for index, value in enumerate(values):
            if not isinstance(value, (int, float)):
                raise LaunchError(where, f"element {index} ({shown(value)}) is not a number")
        numbers = tuple(value for value in values if isinstance(value, (int, float)))
        return cls(ContentKind.LIST, where, values=numbers)

    def make(self, array: ArrayType) -> NDArray[Any]:
        """The storage of a buffer of type ``array`` with these contents (1-D). Raises LaunchError.

        ``random`` gives uniform floats in [0, 1) and integers over the type's whole range.
        """
        if self.kind is ContentKind.ZEROS:
            return np.zeros(array.count, array.dtype)
        if self.kind is ContentKind.ONES:
            return self._filled(array, lambda start, stop: np.ones(stop - start))
        if self.kind is ContentKind.ARANGE:
            if array.dtype.kind in "iu" and array.element != "bf16":
                # The values wrap around in small element types, as a stored counter would.
                return np.arange(array.count, dtype=np.int64).astype(array.dtype)
            return self._filled(array, np.arange)
        if self.kind is ContentKind.RANDOM:
            return self._random(array)
        if self.kind is ContentKind.FILE:
            return self._load(array)
        if len(self.values) != array.count:
            raise LaunchError(self.where, f"the list has {len(self.values)} elements, but the buffer is {array}")
        return encode(_number_array(self.values, self.where), array.element, self.where)

    def _filled(self, array: ArrayType, part: Callable[[int, int], NDArray[Any]]) -> NDArray[Any]:
        """Build a buffer of numbers piece by piece, because intermediate numbers are wider than stored ones."""
        result = np.empty(array.count, array.dtype)
        for start in range(0, array.count, _PIECE):
            stop = min(start + _PIECE, array.count)
            result[start:stop] = encode(part(start, stop), array.element, self.where)
        return result

    def _random(self, array: ArrayType) -> NDArray[Any]:
        generator = np.random.Generator(np.random.PCG64(self.seed))
        if array.dtype.kind == "f" or array.element == "bf16":
            return self._filled(array, lambda start, stop: generator.random(stop - start))
        result = np.empty(array.nbytes, np.uint8)
        for start in range(0, array.nbytes, _PIECE):
            piece = result[start : start + _PIECE]
            piece[:] = np.frombuffer(generator.bytes(len(piece)), np.uint8)
        return result.view(array.dtype)

    def _load(self, array: ArrayType) -> NDArray[Any]:
        assert self.path is not None
        path = self.path
        try:
            # The file's numbers may be wider than the buffer's.
            flat = read_npy(path, max(_WIDEST * array.count, array.nbytes))
        except FileAccessError as error:
            raise LaunchError(self.where, f"{path} {error.reason}") from None
        except NpyTooLargeError as error:
            held = f"{error.size} bytes" if array.element == "bytes" else f"{error.count} elements"
            raise LaunchError(self.where, f"{path} holds {held}, but the buffer is {array}") from None
        except NpyError as error:
            raise LaunchError(self.where, f"{path} {error}") from None
        if array.element == "bytes" or (array.element == "bf16" and flat.dtype == np.uint16):
            if flat.nbytes != array.nbytes:
                raise LaunchError(self.where, f"{path} holds {flat.nbytes} bytes, but the buffer is {array}")
            return flat.view(np.uint8).view(array.dtype).copy()
        if flat.size != array.count:
            raise LaunchError(self.where, f"{path} holds {flat.size} elements, but the buffer is {array}")
        where = f"{self.where} ({path})"
        return encode(flat, array.element, where)


def _numbers(text: str, where: str) -> list[object]:
    """The numbers of ``[1, 2.5, 0x10]``."""
    found: list[object] = []
    body = text[1:-1].strip() if text.endswith("]") else None
    for word in (body or "").removesuffix(",").split(",") if body else ():
        try:
            found.append(int(word, 0))
        except ValueError:
            try:
                found.append(float(word))
            except ValueError:
                body = None
                break
    if body is None:
        raise LaunchError(where, f"`{shown(text)[1:-1]}` is not a list of numbers")
    return found


def _number_array(values: tuple[int | float | bool, ...], where: str) -> NDArray[Any]:
    """Numbers as an array of int64, uint64 or float64, whichever is the first that holds them exactly."""
    if any(isinstance(value, float) for value in values):
        try:
            return np.array(values, np.float64)
        except OverflowError:
            raise LaunchError(where, "a number in the list is too large for a floating-point number") from None
    if values and max(values) > np.iinfo(np.int64).max:
        if min(values) < 0 or max(values) > np.iinfo(np.uint64).max:
            raise LaunchError(where, "a number in the list needs more than 64 bits")
        return np.array(values, np.uint64)
    if values and min(values) < np.iinfo(np.int64).min:
        raise LaunchError(where, "a number in the list needs more than 64 bits")
    return np.array(values, np.int64)
