"""Descriptions of a buffer's contents: ``zeros``, ``arange``, ``random:7``, ``file:data.npy``, ``[1, 2,
3]``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocdbg.launch.elements import ArrayType, encode
from rocdbg.launch.errors import LaunchError

_NPY_MAGIC = b"\x93NUMPY"


class ContentKind(Enum):
    """How contents are described; the value is the word (or prefix) that selects it."""

    ZEROS = "zeros"
    ONES = "ones"
    ARANGE = "arange"
    RANDOM = "random"
    FILE = "file"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Contents:
    """A description of contents, not yet bound to a buffer. ``where`` is for messages (``arg 1 init``)."""

    kind: ContentKind
    where: str
    seed: int = 0
    path: Path | None = None
    values: tuple[int | float | bool, ...] = ()
    given: bool = True
    """Whether the launch says what the contents are; if not, they are zeros and count as never written."""

    @classmethod
    def unset(cls, where: str) -> Contents:
        """Contents of which nothing is said."""
        return cls(ContentKind.ZEROS, where, given=False)

    @classmethod
    def parse(cls, description: object, where: str, directory: Path | None = None) -> Contents:
        """Read a description as launch files and commands write it; relative files are taken from
        ``directory``.

        Raises LaunchError.
        """
        if isinstance(description, list):
            return cls._of_list(description, where)
        if not isinstance(description, str):
            raise LaunchError(where, f"expected text or a list, found {description!r}")
        text = description.strip()
        if text.startswith("["):
            try:
                values = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                raise LaunchError(where, f"`{text}` is not a list of numbers") from None
            return cls._of_list(values if isinstance(values, list) else [values], where)
        word, colon, rest = text.partition(":")
        if word in ("zeros", "ones", "arange") and not colon:
            return cls(ContentKind(word), where)
        if word == "random" and colon:
            try:
                return cls(ContentKind.RANDOM, where, seed=int(rest, 0))
            except ValueError:
                raise LaunchError(where, f"the seed `{rest}` is not a number; write random:42") from None
        if word == "file" and rest:
            path = Path(rest).expanduser()
            return cls(ContentKind.FILE, where, path=path if directory is None else directory / path)
        raise LaunchError(
            where, f"`{text}` is none of zeros, ones, arange, random:SEED, file:NAME.npy, [1, 2, 3]"
        )

    @classmethod
    def _of_list(cls, values: list[object], where: str) -> Contents:
        for index, value in enumerate(values):
            if not isinstance(value, (int, float)):
                raise LaunchError(where, f"element {index} ({value!r}) is not a number")
        numbers = tuple(value for value in values if isinstance(value, (int, float)))
        return cls(ContentKind.LIST, where, values=numbers)

    def make(self, array: ArrayType) -> NDArray[Any]:
        """The storage of a buffer of type ``array`` with these contents (1-D). Raises LaunchError.

        ``random`` gives uniform floats in [0, 1) and integers over the type's whole range.
        """
        if self.kind is ContentKind.ZEROS:
            return np.zeros(array.count, array.dtype)
        if self.kind is ContentKind.ONES:
            return encode(np.ones(array.count), array.element, self.where)
        if self.kind is ContentKind.ARANGE:
            if array.dtype.kind in "iu" and array.element != "bf16":
                # Small element types wrap around, as storing a counter would.
                return np.arange(array.count, dtype=np.int64).astype(array.dtype)
            return encode(np.arange(array.count), array.element, self.where)
        if self.kind is ContentKind.RANDOM:
            return self._random(array)
        if self.kind is ContentKind.FILE:
            return self._load(array)
        if len(self.values) != array.count:
            raise LaunchError(self.where, f"the list has {len(self.values)} elements, the buffer is {array}")
        return encode(_number_array(self.values, self.where), array.element, self.where)

    def _random(self, array: ArrayType) -> NDArray[Any]:
        generator = np.random.Generator(np.random.PCG64(self.seed))
        if array.dtype.kind == "f" or array.element == "bf16":
            return encode(generator.random(array.count), array.element, self.where)
        raw = generator.bytes(array.nbytes)
        return np.frombuffer(raw, array.dtype).copy()

    def _load(self, array: ArrayType) -> NDArray[Any]:
        assert self.path is not None
        try:
            with self.path.open("rb") as stream:
                if stream.read(len(_NPY_MAGIC)) != _NPY_MAGIC:
                    raise LaunchError(self.where, f"{self.path} is not a NumPy .npy file")
                stream.seek(0)
                loaded: NDArray[Any] = np.load(stream, allow_pickle=False)
        except OSError as error:
            raise LaunchError(self.where, f"cannot read {self.path}: {error.strerror or error}") from error
        except (ValueError, EOFError, MemoryError) as error:
            raise LaunchError(self.where, f"{self.path} is a damaged .npy file ({error})") from error
        flat = np.ascontiguousarray(loaded).reshape(-1)
        if array.element == "bytes" or (array.element == "bf16" and flat.dtype == np.uint16):
            if flat.nbytes != array.nbytes:
                raise LaunchError(self.where, f"{self.path} holds {flat.nbytes} bytes, the buffer is {array}")
            return flat.view(np.uint8).view(array.dtype).copy()
        if flat.size != array.count:
            raise LaunchError(self.where, f"{self.path} holds {flat.size} elements, the buffer is {array}")
        return encode(flat, array.element, f"{self.where} ({self.path})")


def _number_array(values: tuple[int | float | bool, ...], where: str) -> NDArray[Any]:
    """Numbers as the narrowest of int64, uint64, float64 that holds them exactly."""
    if any(isinstance(value, float) for value in values):
        return np.array(values, np.float64)
    if values and max(values) > np.iinfo(np.int64).max:
        if min(values) < 0 or max(values) > np.iinfo(np.uint64).max:
            raise LaunchError(where, "the list's numbers need more than 64 bits")
        return np.array(values, np.uint64)
    if values and min(values) < np.iinfo(np.int64).min:
        raise LaunchError(where, "the list's numbers need more than 64 bits")
    return np.array(values, np.int64)
