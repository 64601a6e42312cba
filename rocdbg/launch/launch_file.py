"""Launch files: a kernel's launch described in TOML::

[launch]
file = "saxpy.gfx90a.co"    # relative to this file; `{arch}` in it becomes the target's name
arch = "gfx90a"             # optional: the value of `{arch}`, the entry of a fat binary
kernel = "saxpy"            # may be omitted when there is one kernel
grid = [1024, 1, 1]         # work-items
workgroup = [64, 1, 1]
dynamic_lds = 0             # bytes
kernarg = "00010203"        # the bytes of the kernarg segment, or "file:args.bin"; each [[arg]] is written into it at
                            # its `offset = BYTES`. If neither metadata nor `kernarg` describes the arguments, they
                            # follow each other, each aligned to its size
stack_size = 65536          # bytes of stack per lane, if the compiler could not determine how many are needed
load = ["more.co"]          # code objects that define symbols which `file` does not, relative to this file
user_data = [7, 0, 0]       # for a shader (AMDPAL, Mesa): its 32-bit entries; each [[arg]] is written as above
registers = { COMPUTE_PGM_RSRC2 = 0x90 }    # for a shader: registers that its driver sets to other values

[[arg]]
value = 2.0                 # a number; a list for an aggregate, whose `type` is then "f32[3]" or "bytes[12]"
type = "f32"                # optional
[[arg]]
name = "x"
buffer = "f32[1024]"
init = "arange"             # zeros | ones | arange | random:SEED | file:data.npy | [1, 2, 3]; without it,
                            # the buffer holds zeros that count as never written
expect = "file:out.npy"     # checked at the end; `rtol` and `atol` allow differences
[[arg]]
local = 256                 # LDS bytes for a `local` pointer argument of OpenCL
[[arg]]
image = "rgba8[64,64]"      # an image; `init`, `expect`, `rtol` and `atol` as for a buffer
[[arg]]
sampler = "linear clamp"    # a sampler; together with `image`, a HIP texture
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rocdbg.codeobject.shader_registers import UnknownRegisterError, register_number
from rocdbg.launch.contents import Contents
from rocdbg.launch.elements import ELEMENT_TYPES, ArrayType, check_element
from rocdbg.launch.errors import LaunchError, shown
from rocdbg.launch.image_arguments import ImageSpec, SamplerSpec
from rocdbg.launch.spec import (
    MAX_STACK,
    ArgumentSpec,
    LaunchSpec,
    check_dimensions,
    check_scalar,
    check_size,
    segment_bytes,
)
from rocdbg.regular_file import FileAccessError, read_regular
from rocdbg.toml_text import TomlError, parse_toml

_LAUNCH_KEYS = (
    "file", "arch", "kernel", "grid", "workgroup", "dynamic_lds", "kernarg", "user_data", "registers",
    "stack_size", "load",
)
_ARGUMENT_KEYS = (
    "name", "value", "type", "buffer", "init", "expect", "rtol", "atol", "local", "image", "sampler", "offset",
)
_MAX_FILE_SIZE = 2 << 20
_MAX_ARGUMENTS = 1024
_MAX_LOADED = 256
"""Limit on the code objects that a launch loads, because each takes as long as the first."""
_MAX_USER_DATA = 1024
"""Limit on the entries of user data; hardware has 32 registers for them, further entries are in a table."""


def read_launch_file(path: str | Path) -> LaunchSpec:
    """Read a launch file. Raises LaunchError naming the file, the key and what to do."""
    path = Path(path)
    try:
        if path.stat().st_size > _MAX_FILE_SIZE:
            reason = f"is larger than {_MAX_FILE_SIZE} bytes; put data into .npy files"
            raise LaunchError("the file", reason, str(path))
        text = read_regular(path, _MAX_FILE_SIZE).decode("utf-8")
    except FileAccessError as error:
        raise LaunchError("the file", error.reason, str(path)) from None
    except OSError as error:
        raise LaunchError("the file", f"cannot be read: {error.strerror or error}", str(path)) from error
    except UnicodeDecodeError as error:
        raise LaunchError("the file", f"is not UTF-8 text (byte {error.start})", str(path)) from error
    except ValueError as error:  # not a possible path
        raise LaunchError("the file", f"cannot be read: {error}", str(path)) from None
    return parse_launch(text, path)


def parse_launch(text: str, path: Path) -> LaunchSpec:
    """Parse the text of a launch file at ``path``. Raises LaunchError."""
    where = str(path)
    try:
        document = parse_toml(text)
    except TomlError as error:
        raise LaunchError("TOML", str(error), where) from error
    _check_keys(document, ("launch", "arg"), "the file", where)
    table = document.get("launch")
    if not isinstance(table, dict):
        raise LaunchError("[launch]", "the table is missing", where)
    _check_keys(table, _LAUNCH_KEYS, "[launch]", where)
    spec = LaunchSpec(source=path)
    file = _text(table, "file", "[launch]", where)
    if file is None:
        raise LaunchError("[launch] file", "missing; name the code object to load", where)
    spec.file = path.parent / file
    spec.arch = _text(table, "arch", "[launch]", where)
    if spec.arch is not None and ("/" in spec.arch or "\0" in spec.arch):
        raise LaunchError("[launch] arch", f"{shown(spec.arch)} is not the name of a target", where)
    spec.kernel = _text(table, "kernel", "[launch]", where)
    if "grid" not in table:
        raise LaunchError(
            "[launch] grid", "missing; give the number of work-items, for example grid = [1024, 1, 1]", where
        )
    spec.grid = check_dimensions(table["grid"], "[launch] grid", where)
    if "workgroup" in table:
        spec.workgroup = check_dimensions(table["workgroup"], "[launch] workgroup", where)
    spec.dynamic_lds = _size(table, "dynamic_lds", "[launch]", where) or 0
    kernarg = table.get("kernarg")
    if kernarg is not None:
        spec.kernarg = _kernarg(kernarg, path.parent, where)
    spec.stack_size = _size(table, "stack_size", "[launch]", where)
    if spec.stack_size is not None and spec.stack_size > MAX_STACK:
        raise LaunchError(
            "[launch] stack_size", f"the stack size is {spec.stack_size} bytes; the limit is {MAX_STACK}", where
        )
    spec.also = _also(table.get("load", []), path.parent, where)
    if "user_data" in table:
        spec.user_data = _user_data(table["user_data"], where)
    spec.registers = _registers(table.get("registers", {}), where)
    arguments = document.get("arg", [])
    if not isinstance(arguments, list) or not all(isinstance(entry, dict) for entry in arguments):
        raise LaunchError("arg", "write each argument as a [[arg]] table", where)
    if len(arguments) > _MAX_ARGUMENTS:
        raise LaunchError("arg", f"there are {len(arguments)} arguments; the limit is {_MAX_ARGUMENTS}", where)
    for index, entry in enumerate(arguments):
        try:
            spec.arguments.append(_argument(entry, f"arg {index}", path.parent))
        except LaunchError as error:
            if error.where:
                raise
            raise LaunchError(error.what, error.reason, where) from error
    return spec


def _argument(table: dict[str, Any], what: str, directory: Path) -> ArgumentSpec:
    """One ``[[arg]]`` table."""
    _check_keys(table, _ARGUMENT_KEYS, what)
    forms = [key for key in ("buffer", "value", "local", "image", "sampler") if key in table]
    if len(forms) != 1 and forms != ["image", "sampler"]:
        found = " and ".join(f"`{form}`" for form in forms) or "none"
        reason = f"needs exactly one of `buffer`, `value`, `local`, `image` and `sampler`, found {found}"
        raise LaunchError(what, reason)
    name = _text(table, "name", what)
    offset = table.get("offset")
    if offset is not None and (not isinstance(offset, int) or isinstance(offset, bool) or offset < 0):
        raise LaunchError(f"{what} offset", f"expected a number of bytes, found {shown(offset)}")
    return replace(_described(table, what, name, directory, forms), offset=offset)


def _described(
    table: dict[str, Any], what: str, name: str | None, directory: Path, forms: Sequence[str]
) -> ArgumentSpec:
    if "buffer" in forms or "image" in forms:
        return _buffer(table, what, name, directory)
    for key in ("init", "expect", "rtol", "atol"):
        if key in table:
            raise LaunchError(f"{what} {key}", "only a `buffer` or an `image` can have this key")
    if "sampler" in forms:
        return ArgumentSpec(what, name, sampler=_sampler(table, what))
    if "local" in forms:
        return ArgumentSpec(what, name, local_size=_size(table, "local", what))
    return _value(table, what, name)


def _buffer(table: dict[str, Any], what: str, name: str | None, directory: Path) -> ArgumentSpec:
    if "type" in table:
        raise LaunchError(
            f"{what} type", 'give the type of a buffer in `buffer` itself, for example buffer = "f32[1024]"'
        )
    image, array = _described_array(table, what)
    start = f"{what} init"
    init = Contents.parse(table["init"], start, directory) if "init" in table else Contents.unset(start)
    expect = Contents.parse(table["expect"], f"{what} expect", directory) if "expect" in table else None
    rtol, atol = (_tolerance(table, key, what) for key in ("rtol", "atol"))
    return ArgumentSpec(
        what, name, buffer=array, init=init, expect=expect, rtol=rtol, atol=atol, image=image,
        sampler=_sampler(table, what),
    )


def _described_array(table: dict[str, Any], what: str) -> tuple[ImageSpec | None, ArrayType]:
    """The image, if the argument is one, and the array of its contents; or the array of a buffer."""
    text = _text(table, "image", what)
    if text is not None:
        image = ImageSpec.parse(text, f"{what} image")
        return image, image.array
    text = _text(table, "buffer", what)
    assert text is not None
    try:
        return None, ArrayType.parse(text)
    except LaunchError as error:
        raise LaunchError(f"{what} buffer", error.reason) from error


def _sampler(table: dict[str, Any], what: str) -> SamplerSpec | None:
    text = _text(table, "sampler", what)
    return SamplerSpec.parse(text, f"{what} sampler") if text is not None else None


def _value(table: dict[str, Any], what: str, name: str | None) -> ArgumentSpec:
    value, type_name = table["value"], _text(table, "type", what)
    if type_name is not None and "[" in type_name:
        array = ArrayType.parse(type_name)
        if array.nbytes > _MAX_FILE_SIZE:
            raise LaunchError(f"{what} type", f"{array} is too large to be passed by value")
        if isinstance(value, str):
            try:
                data = bytes.fromhex(value)
            except ValueError:
                raise LaunchError(
                    f"{what} value", f"{shown(value)} is not a string of hexadecimal bytes"
                ) from None
            if len(data) != array.nbytes:
                raise LaunchError(f"{what} value", f"{len(data)} bytes are given, but {array} has {array.nbytes}")
        else:
            data = Contents.parse(value, f"{what} value").make(array).tobytes()
        return ArgumentSpec(what, name, value=data, type=type_name)
    if type_name is not None:
        check_element(type_name, f"{what} type")
        if type_name == "bytes":
            raise LaunchError(f"{what} type", "write the number of bytes: bytes[12]")
    if isinstance(value, list):
        raise LaunchError(f"{what} type", 'for a list, give the type, for example type = "f32[3]"')
    if not isinstance(value, (int, float)):
        raise LaunchError(f"{what} value", f"{shown(value)} is not a number")
    return ArgumentSpec(what, name, value=check_scalar(value, f"{what} value"), type=type_name)


def _kernarg(value: object, directory: Path, where: str) -> bytes:
    if not isinstance(value, str):
        raise LaunchError("[launch] kernarg", f"{shown(value)} is not a string of hexadecimal bytes", where)
    try:
        return segment_bytes(value, "[launch] kernarg", directory)
    except LaunchError as error:
        raise LaunchError(error.what, error.reason, where) from None


def _also(value: object, directory: Path, where: str) -> list[Path]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise LaunchError("[launch] load", f"{shown(value)} is not a list of file names", where)
    if len(value) > _MAX_LOADED:
        raise LaunchError("[launch] load", f"{len(value)} files are named; the limit is {_MAX_LOADED}", where)
    return [directory / name for name in value]


def _user_data(value: object, where: str) -> bytes:
    if not isinstance(value, list) or not all(_is_word(entry) for entry in value):
        raise LaunchError("[launch] user_data", f"{shown(value)} is not a list of 32-bit numbers", where)
    if len(value) > _MAX_USER_DATA:
        raise LaunchError(
            "[launch] user_data", f"the list has {len(value)} numbers; the limit is {_MAX_USER_DATA}", where
        )
    return b"".join(entry.to_bytes(4, "little") for entry in value)


def _registers(value: object, where: str) -> dict[str, int]:
    if not isinstance(value, dict) or not all(_is_word(entry) for entry in value.values()):
        raise LaunchError("[launch] registers", f"{shown(value)} is not a table of 32-bit numbers", where)
    for name in value:
        try:
            register_number(name)
        except UnknownRegisterError as error:
            raise LaunchError("[launch] registers", str(error), where) from None
    return value


def _is_word(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 0xFFFF_FFFF


def _check_keys(table: dict[str, Any], known: tuple[str, ...], what: str, where: str = "") -> None:
    for key in table:
        if key not in known:
            raise LaunchError(what, f"unknown key `{shown(key)[1:-1]}`; the keys are {', '.join(known)}", where)


def _text(table: dict[str, Any], key: str, what: str, where: str = "") -> str | None:
    value = table.get(key)
    if value is not None and (not isinstance(value, str) or not value):
        raise LaunchError(f"{what} {key}", f"expected text in quotes, found {shown(value)}", where)
    return value


def _size(table: dict[str, Any], key: str, what: str, where: str = "") -> int | None:
    value = table.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise LaunchError(f"{what} {key}", f"expected a number of bytes, found {shown(value)}", where)
    return None if value is None else check_size(value, f"{what} {key}", where)


def _tolerance(table: dict[str, Any], key: str, what: str) -> float:
    value = table.get(key, 0.0)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not value >= 0:
        raise LaunchError(f"{what} {key}", f"expected a number of at least 0, found {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise LaunchError(f"{what} {key}", f"{shown(value)} is too large") from None


__all__ = ["ELEMENT_TYPES", "ArgumentSpec", "LaunchSpec", "parse_launch", "read_launch_file"]
