"""A launch as the user describes it, before any code object is opened. Launch files and commands build it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from rocdbg.launch.contents import Contents
from rocdbg.launch.elements import ArrayType, check_element
from rocdbg.launch.errors import LaunchError, shown
from rocdbg.launch.image_arguments import ImageSpec, SamplerSpec
from rocdbg.regular_file import FileAccessError, read_regular
from rocdbg.sim.device.kernarg import MAX_SEGMENT_SIZE

Dim3 = tuple[int, int, int]
Scalar = int | float | bool

MAX_DIMENSION = 0xFFFF_FFFF
"""Largest grid dimension an AQL packet holds, in work-items."""

MAX_VALUE_BITS = 1024
"""Bits of the largest number that is passed by value."""

MAX_STACK = 1 << 30
"""The most bytes of stack that a lane can be given."""

MAX_LDS = 0xFFFF_FFFF
"""The most bytes of LDS that an AQL packet can request; devices have far less."""

_BUFFER = re.compile(r"(\w+\s*\[[^\]]*\])\s*(?::(.*))?", re.DOTALL)
_TYPED = re.compile(r"([a-z]+\d*)\s*:\s*(.+)")


class ArgumentSpec(Struct, frozen=True):
    """One explicit argument: a buffer or image, a sampler, a value, or LDS for a ``local`` pointer of OpenCL.

    Exactly one of ``buffer``, ``value``, ``local_size`` and ``sampler`` is set, except for a texture, which has an
    image and a sampler. ``type``, for a value, is an element type or, for aggregates, an array type such as ``f32[3]``
    or ``bytes[12]``. ``where`` names the argument in messages.
    """

    where: str
    name: str | None = None
    buffer: ArrayType | None = None
    init: Contents | None = None
    expect: Contents | None = None
    rtol: float = 0.0
    atol: float = 0.0
    value: Scalar | tuple[Scalar, ...] | bytes | None = None
    type: str | None = None
    local_size: int | None = None
    image: ImageSpec | None = None
    """The image whose contents ``buffer`` describes."""
    sampler: SamplerSpec | None = None
    """A sampler; together with ``image``, that of a texture."""
    offset: int | None = None
    """Bytes from the start of the kernarg segment, if the launch states the argument's place itself."""

    @classmethod
    def parse(cls, text: str, where: str) -> ArgumentSpec:
        """Read an argument as ``set arg N TEXT`` gives it. Raises LaunchError.

        ``2.0``, ``f32:2``, ``f32[1024]:arange`` (zeros if no contents are given), ``f32[3]`` alone is a
        buffer, ``value f32[3]:[1, 2, 3]`` an aggregate by value, ``local[256]`` LDS bytes for a local
        pointer, ``image rgba8[64,64]:random:1`` an image, ``sampler linear clamp`` a sampler,
        ``texture linear clamp, rgba8[64,64]`` both.
        """
        text = text.strip()
        if not text:
            raise LaunchError(where, "a value is missing; write 2.0, f32:2.0, f32[1024]:arange or local[256]")
        if text.startswith("local"):
            match = re.fullmatch(r"local\s*\[\s*(\w+)\s*\]", text)
            if match is None:
                raise LaunchError(
                    where, f"`{text}`: write a local argument with its size in bytes, for example local[256]"
                )
            return cls(where, local_size=check_size(parse_int(match.group(1), where), where))
        word, _, rest = text.partition(" ")
        if word in ("image", "sampler", "texture"):
            return cls._pictured(word, rest.strip(), where)
        by_value = text.startswith("value ")
        match = _BUFFER.fullmatch(text.removeprefix("value ").strip())
        if match is not None:
            array = ArrayType.parse(match.group(1))
            described = match.group(2)
            contents = Contents.parse(described, where) if described is not None else Contents.unset(where)
            if by_value:
                return cls(where, value=contents.make(array).tobytes(), type=str(array))
            return cls(where, buffer=array, init=contents)
        typed = _TYPED.fullmatch(text)
        if typed is not None:
            return cls(
                where, type=check_element(typed.group(1), where), value=parse_scalar(typed.group(2), where)
            )
        if text.startswith(("[", "{")):
            reason = (
                "for a list, give the type: `value f32[4]:[1, 2, 3, 4]` by value, `f32[4]:[1, 2, 3, 4]` as a buffer"
            )
            raise LaunchError(where, reason)
        return cls(where, value=parse_scalar(text, where))

    @classmethod
    def _pictured(cls, word: str, text: str, where: str) -> ArgumentSpec:
        """An image, a sampler or both."""
        sampler = None
        if word != "image":
            words, comma, text = text.partition(",") if word == "texture" else (text, "", "")
            if word == "texture" and not comma:
                raise LaunchError(
                    where, "write a texture as a sampler, a comma and an image, for example `texture linear clamp, "
                    "rgba8[64,64]`"
                )
            sampler = SamplerSpec.parse(words, where)
            if word == "sampler":
                return cls(where, sampler=sampler)
        described, bracket, contents = text.partition("]")
        levels, colon, init = contents.partition(":")
        image = ImageSpec.parse(f"{described}{bracket}{levels}", where)
        made = Contents.parse(init, where) if colon else Contents.unset(where)
        return cls(where, buffer=image.array, init=made, image=image, sampler=sampler)


class LaunchSpec(Struct):
    """A whole launch. ``file`` and ``kernel`` may be unspecified; ``expand_file`` fills in ``{arch}``."""

    file: Path | None = None
    arch: str | None = None
    kernel: str | None = None
    grid: Dim3 | None = None
    workgroup: Dim3 | None = None
    dynamic_lds: int = 0
    arguments: list[ArgumentSpec | None] = field(default_factory=list)
    source: Path | None = None
    """The launch file this came from, if any."""
    kernarg: bytes | None = None
    """The beginning of the kernarg segment, for a kernel without metadata."""
    user_data: bytes | None = None
    """The data that a shader gets instead of kernel arguments."""
    registers: dict[str, int] = field(default_factory=dict)
    """Registers that a driver sets for a shader, by name."""
    stack_size: int | None = None
    """Bytes of private memory per lane for the stack of kernels whose stack size the compiler could not determine."""
    also: list[Path] = field(default_factory=list)
    """Code objects to be loaded beside the kernel's, for symbols that it does not define."""

    def expand_file(self, arch: str | None = None) -> Path | None:
        """The code object's path; ``{arch}`` in it is replaced by the processor of ``arch`` or of the launch
        file.
        """
        return self._expanded(self.file, arch) if self.file is not None else None

    def expand_also(self, arch: str | None = None) -> list[Path]:
        """As `expand_file`, for the code objects that are loaded beside it."""
        return [self._expanded(file, arch) for file in self.also]

    def _expanded(self, file: Path, arch: str | None) -> Path:
        text = str(file)
        if "{arch}" not in text:
            return file
        chosen = arch or self.arch
        if chosen is None:
            raise LaunchError("file", f'{text} needs a target; add `arch = "gfx90a"` or use --arch')
        return Path(text.replace("{arch}", chosen.partition(":")[0]))

    def set_grid(self, text: str) -> None:
        """``set grid 1024``, ``set grid 64 32``, ``set grid 64,32,1``. Raises LaunchError."""
        self.grid = parse_dimensions(text, "grid")

    def set_workgroup(self, text: str) -> None:
        """As `set_grid`, for the workgroup."""
        self.workgroup = parse_dimensions(text, "workgroup")

    def set_argument(self, index: int, text: str) -> None:
        """``set arg INDEX TEXT``; arguments that have not been set remain unset. Raises LaunchError."""
        where = f"arg {index}"
        if not 0 <= index < 1024:
            raise LaunchError(where, "the index must be from 0 to 1023")
        argument = ArgumentSpec.parse(text, where)
        self.arguments.extend([None] * (index + 1 - len(self.arguments)))
        self.arguments[index] = argument

    def set_kernarg(self, text: str, directory: Path) -> None:
        """``set kernarg TEXT``: the segment's bytes (``000102ff``, ``file:args.bin``), or ``OFFSET VALUE``, where the
        value is one of ``set arg``, ``hex:00ff`` or a file. Raises LaunchError.
        """
        word, _, rest = text.strip().partition(" ")
        if not rest:
            self.kernarg = segment_bytes(word, "kernarg", directory)
            self.arguments = [a for a in self.arguments if a is not None and a.offset is not None]
            return
        offset = parse_int(word, "kernarg")
        where, rest = f"kernarg {offset}", rest.strip()
        if not 0 <= offset < MAX_SEGMENT_SIZE:
            raise LaunchError(where, f"the offset must be from 0 to {MAX_SEGMENT_SIZE - 1}")
        if rest.startswith(("hex:", "file:")):
            data = segment_bytes(rest.removeprefix("hex:"), where, directory)
            argument = ArgumentSpec(where, value=data, type=f"bytes[{len(data)}]", offset=offset)
        else:
            argument = replace(ArgumentSpec.parse(rest, where), offset=offset)
            if argument.buffer is not None:
                argument = replace(argument, name=f"kernarg{offset}")
            if argument.type is None and isinstance(argument.value, int | float):
                raise LaunchError(
                    where, f"the size of `{rest}` is not known; write, for example, u32:{rest} or f32:{rest}"
                )
        kept = [a for a in self.arguments if a is not None and a.offset is not None and a.offset != offset]
        self.arguments = [*kept, argument]
        self.kernarg = self.kernarg or b""

    def complete(self) -> tuple[Dim3, Dim3, list[ArgumentSpec]]:
        """Grid, workgroup and arguments. Raises a LaunchError that names what is missing.

        The default workgroup is the first 64 work-items of the grid in x, or fewer if the grid is smaller.
        """
        if self.grid is None:
            raise LaunchError("grid", "the launch has no grid size; use `set grid X [Y Z]` (work-items)")
        arguments = []
        for index, argument in enumerate(self.arguments):
            if argument is None:
                raise LaunchError(f"arg {index}", f"the argument has no value; use `set arg {index} VALUE`")
            arguments.append(argument)
        workgroup = self.workgroup or (min(self.grid[0], 64), 1, 1)
        return self.grid, workgroup, arguments


def parse_dimensions(text: str, what: str) -> Dim3:
    """Parse one to three positive numbers, which are separated by blanks or commas and may be in brackets."""
    words = [word for word in re.split(r"[\s,]+", text.strip().strip("[](){}").strip()) if word]
    return check_dimensions([parse_int(word, what) for word in words], what)


def check_dimensions(values: object, what: str, where: str = "") -> Dim3:
    """An int or one to three ints as (x, y, z). Raises LaunchError if one is out of 1..2**32-1."""
    sizes = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(what, f"expected one to three numbers, found {len(sizes)}", where)
    result = []
    for size in sizes:
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise LaunchError(what, f"{shown(size)} is not a whole number", where)
        number = size.__index__()
        if not 1 <= number <= MAX_DIMENSION:
            raise LaunchError(what, f"a size must be from 1 to {MAX_DIMENSION}, not {shown(number)}", where)
        result.append(number)
    x, y, z = result + [1] * (3 - len(result))
    return x, y, z


def check_size(size: int, what: str, where: str = "") -> int:
    """A number of bytes of LDS. Raises LaunchError if it is out of 0..2**32-1."""
    if not 0 <= size <= MAX_LDS:
        raise LaunchError(what, f"{shown(size)} bytes is out of range; the limit is {MAX_LDS}", where)
    return size


def check_scalar(value: Scalar, what: str) -> Scalar:
    """A number to be passed to a kernel. Raises LaunchError if it has more bits than any argument."""
    if isinstance(value, int) and value.bit_length() > MAX_VALUE_BITS:
        raise LaunchError(what, f"{shown(value)} does not fit into an argument")
    return value


def segment_bytes(text: str, what: str, directory: Path) -> bytes:
    """Bytes given as hexadecimal digits, with or without 0x before them, or as ``file:PATH``. Raises LaunchError."""
    if text.startswith("file:"):
        path = directory / Path(text.removeprefix("file:")).expanduser()
        try:
            return read_regular(path, MAX_SEGMENT_SIZE)
        except FileAccessError as error:
            raise LaunchError(what, f"{path}: {error.reason}") from None
        except (OSError, ValueError) as error:
            raise LaunchError(what, f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise LaunchError(what, f"`{text[:40]}` is not a string of hexadecimal bytes") from None
    if len(data) > MAX_SEGMENT_SIZE:
        raise LaunchError(what, f"{len(data)} bytes are given; the limit is {MAX_SEGMENT_SIZE}")
    return data


def parse_int(text: str, what: str) -> int:
    """A number as C or Python writes it (0x10, 16)."""
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise LaunchError(what, f"`{text.strip()}` is not a whole number") from None


def parse_scalar(text: str, what: str) -> Scalar:
    """A whole number, a floating-point number (also inf, nan, an f suffix) or true/false."""
    word = text.strip().lower()
    if word in ("true", "false"):
        return word == "true"
    try:
        return check_scalar(int(word, 0), what)
    except ValueError:
        pass
    try:
        return float(word.removesuffix("f") if not word.endswith("inf") else word)
    except ValueError:
        raise LaunchError(what, f"`{text.strip()}` is not a number") from None
