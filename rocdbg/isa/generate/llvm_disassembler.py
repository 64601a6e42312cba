"""LLVM's AMDGPU disassembler as a function, through libLLVM's C interface.

LLVM 22 built without assertions can crash on some illegal operands, because its error path formats a string that no
longer exists. The calls therefore run in a forked worker; an encoding that ends the worker counts as illegal, which it
is.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import struct
from collections.abc import Sequence

_LIBRARY = os.environ.get("LIBLLVM", "libLLVM.so.22.1")
_WINDOW = 20
"""Bytes shown to the disassembler per encoding: the longest instruction is 96 bits and a literal."""
_ARENA = 1 << 26
_lib: ctypes.CDLL | None = None


def _library() -> ctypes.CDLL:
    global _lib
    if _lib is None:
        lib = ctypes.CDLL(_LIBRARY)
        for part in ("TargetInfo", "TargetMC", "Disassembler"):
            getattr(lib, "LLVMInitializeAMDGPU" + part)()
        lib.LLVMCreateDisasmCPUFeatures.restype = ctypes.c_void_p
        lib.LLVMCreateDisasmCPUFeatures.argtypes = [
            ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p,
            ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
        ]
        lib.LLVMDisasmInstruction.restype = ctypes.c_size_t
        lib.LLVMDisasmInstruction.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t,
        ]
        _lib = lib
    return _lib


def fold(text: str) -> str:
    """Text without comments and with single spaces."""
    return " ".join(text.split(" ; ", 1)[0].split())


class Oracle:
    """Disassembles single instructions for one processor; results are ``(size, text)``, size 0 if illegal."""

    def __init__(self, cpu: str, features: str = "") -> None:
        self.cpu = cpu
        self._lib = _library()
        self._handle = self._lib.LLVMCreateDisasmCPUFeatures(
            b"amdgcn-amd-amdhsa", cpu.encode(), features.encode(), None, 0, None, None
        )
        if not self._handle:
            raise ValueError(f"LLVM does not know processor {cpu}")
        self._arena = mmap.mmap(-1, _ARENA)
        self._pid = 0
        self._to = self._from = -1
        self.asked = 0
        self.crashes = 0

    def _spawn(self) -> None:
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()
        self._pid = os.fork()
        if self._pid:
            os.close(to_read)
            os.close(from_write)
            return
        os.close(self._to)
        os.close(self._from)
        faulthandler.disable()  # an expected crash needs no report
        try:
            self._serve(to_read, from_write)
        finally:
            os._exit(0)

    def _serve(self, requests: int, replies: int) -> None:
        buffer = ctypes.create_string_buffer(1024)
        call, handle, arena = self._lib.LLVMDisasmInstruction, self._handle, self._arena
        while head := os.read(requests, 4):
            count = struct.unpack("<I", head)[0]
            data = bytearray()
            while len(data) < count * _WINDOW:
                data += os.read(requests, count * _WINDOW - len(data))
            position = 8
            for i in range(count):
                size = call(handle, bytes(data[i * _WINDOW : (i + 1) * _WINDOW]), _WINDOW, 0, buffer, 1024)
                text = buffer.value if size else b""
                struct.pack_into("<HH", arena, position, size, len(text))
                arena[position + 4 : position + 4 + len(text)] = text
                position += 4 + len(text)
                struct.pack_into("<Q", arena, 0, i + 1)
            os.write(replies, b".")

    def close(self) -> None:
        """End the worker."""
        if self._pid:
            os.close(self._to)
            os.close(self._from)
            os.waitpid(self._pid, 0)
            self._pid = 0

    def ask(self, words: Sequence[int]) -> list[tuple[int, str]]:
        """Disassemble instruction words (integers, little endian)."""
        results: list[tuple[int, str]] = []
        for start in range(0, len(words), 4096):
            results += self._batch(words[start : start + 4096])
        return results

    def one(self, word: int) -> tuple[int, str]:
        return self.ask([word])[0]

    def _batch(self, words: Sequence[int]) -> list[tuple[int, str]]:
        self.asked += len(words)
        results: list[tuple[int, str]] = []
        while len(results) < len(words):
            todo = words[len(results) :]
            if not self._pid:
                self._spawn()
            struct.pack_into("<Q", self._arena, 0, 0)
            payload = b"".join((w & ((1 << 8 * _WINDOW) - 1)).to_bytes(_WINDOW, "little") for w in todo)
            message = struct.pack("<I", len(todo)) + payload
            try:
                while message:
                    message = message[os.write(self._to, message) :]
                done = os.read(self._from, 1)
            except BrokenPipeError:
                done = b""
            count = struct.unpack_from("<Q", self._arena, 0)[0]
            position = 8
            for _ in range(count):
                size, length = struct.unpack_from("<HH", self._arena, position)
                text = self._arena[position + 4 : position + 4 + length].decode()
                results.append((size, fold(text)))
                position += 4 + length
            if not done:
                self.crashes += 1
                results.append((0, ""))
                self.close()
        return results
