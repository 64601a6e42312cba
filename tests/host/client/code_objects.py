"""Executables, symbols and the loader."""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import byref, c_bool, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

from hsa import Gpu, HsaError, call, code_object, info, loaded, out, refused, words


def check_symbols() -> None:
    gpu = Gpu()
    code, _ = loaded(gpu)
    assert code.symbol_info("saxpy.kd", 0) == 1 and code.symbol_info("counter", 0) == 0
    assert code.symbol_info("saxpy.kd", 2, bytes) == "saxpy.kd"
    assert code.symbol_info("saxpy.kd", 1) == 8
    assert code.symbol_info("saxpy.kd", 11) == 32 + 256
    assert code.symbol_info("saxpy.kd", 12) == 8
    assert code.symbol_info("saxpy.kd", 20, c_uint64) == gpu.agent
    assert code.symbol_info("counter", 9) == 4
    assert words(code.variable("counter"), 1) == [5]
    assert words(code.variable("limits"), 4) == [10, 20, 30, 40]
    assert code.symbol_info("limits", 10, c_bool) is True
    assert code.symbol_info("counter", 10, c_bool) is False
    names: list[str] = []

    @ctypes.CFUNCTYPE(c_uint32, c_uint64, c_uint64, c_void_p)
    def visit(executable: int, symbol: int, data: None) -> int:
        names.append(info("hsa_executable_symbol_get_info", symbol, 2, bytes))
        return 0

    call("hsa_executable_iterate_symbols", code.handle, visit, None)
    kernels = {"empty", "debug_trap", "saxpy", "wait_for", "set_flag", "count", "positions", "reversed", "trap", "ring",
               "rendezvous"}  # fmt: skip
    names = [name for name in names if not name.startswith("__hip_cuid_")]  # one of each translation unit
    assert sorted(names) == sorted([*(f"{name}.kd" for name in kernels), "counter", "limits"])
    try:
        code.symbol("saxpy.kdx")
    except HsaError as error:
        assert error.status == 0x1013
    else:
        raise AssertionError("a symbol that is not there was found")
    assert info("hsa_executable_get_info", code.handle, 2) == 1
    refused(0x1012, "hsa_executable_freeze", code.handle, None)
    refused(0x1012, "hsa_executable_load_agent_code_object", code.handle, gpu.agent, code.reader, None, None)
    code.destroy()
    refused(0x1011, "hsa_executable_freeze", code.handle, None)


def check_damaged_code() -> None:
    gpu = Gpu()
    for data in (b"no code object", code_object()[: len(code_object()) // 2]):
        try:
            gpu.load(data)
        except HsaError as error:
            assert error.status == 0x1010
        else:
            raise AssertionError("damaged code was loaded")
    try:
        gpu.load(code_object())  # does not say where "outside" is
    except HsaError as error:
        assert error.status == 0x1010
    other = Gpu(1)
    try:
        other.load(code_object(), {"outside": other.allocate(4)})
    except HsaError as error:
        assert error.status == 0x1010
    else:
        raise AssertionError("code of another GPU was loaded")


def check_old_loading() -> None:
    gpu = Gpu()
    outside = gpu.allocate(4)
    code = out("hsa_code_object_deserialize", code_object(), len(code_object()), None)
    executable = out("hsa_executable_create", 1, 0, None)
    call("hsa_executable_global_variable_define", executable, b"outside", c_void_p(outside))
    refused(0x1014, "hsa_executable_global_variable_define", executable, b"outside", c_void_p(outside))
    call("hsa_executable_load_code_object", executable, gpu.agent, code, None)
    call("hsa_executable_freeze", executable, None)
    assert out("hsa_executable_validate", executable, kind=c_uint32) == 0
    symbol = out("hsa_executable_get_symbol", executable, None, b"empty.kd", gpu.agent, 0)
    assert info("hsa_executable_symbol_get_info", symbol, 0) == 1
    call("hsa_executable_destroy", executable)
    call("hsa_code_object_destroy", code)


def check_loader_extension() -> None:
    gpu = Gpu()
    with Path(sys.argv[1]).open("rb") as file:
        reader = out("hsa_code_object_reader_create_from_file", file.fileno())
    table = (c_void_p * 7)()
    call("hsa_system_get_major_extension_table", 0x201, 1, ctypes.sizeof(table), table)
    status = lambda index, *kinds: ctypes.CFUNCTYPE(c_uint32, *kinds)(table[index])  # noqa: E731
    code, outside = loaded(gpu)
    executable = out("hsa_executable_create_alt", 1, 2, None)
    call("hsa_executable_agent_global_variable_define", executable, gpu.agent, b"outside", c_void_p(outside))
    handle = out("hsa_executable_load_agent_code_object", executable, gpu.agent, reader, None)
    get = status(4, c_uint64, c_uint32, c_void_p)

    def value(attribute: int) -> int:
        number = c_uint64()
        assert get(handle, attribute, byref(number)) == 0
        return number.value

    room = ctypes.create_string_buffer(value(11) + 1)
    assert get(handle, 12, room) == 0
    path = os.path.realpath(sys.argv[1])
    assert room.value.decode() == f"file://{path}#offset=0&size={len(code_object())}"
    base, size = value(9), value(10)
    owner, host = c_uint64(), c_void_p()
    assert status(2, c_void_p, c_void_p)(base + 100, byref(owner)) == 0
    assert owner.value == executable
    assert status(0, c_void_p, c_void_p)(base + size - 1, byref(host)) == 0
    assert status(0, c_void_p, c_void_p)(base + size, byref(host)) != 0
    count = c_size_t()
    assert status(1, c_void_p, c_void_p)(None, byref(count)) == 0
    assert count.value >= 2
    code.destroy()
