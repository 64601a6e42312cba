"""The kernarg segment, from hand-made metadata, and the other structures of a launch."""

from __future__ import annotations

import struct

import pytest

from rocdbg.codeobject import KernelArg, KernelKind, KernelMetadata, ValueKind
from rocdbg.sim.device.aql_packets import KernelPacket
from rocdbg.sim.device.kernarg import HiddenValues, KernargError, build_segment
from rocdbg.sim.device.queue_structures import Queue

HIDDEN = HiddenValues((100, 7, 1), (32, 4, 1), 512, 0x20000, 0x10000, 0x7F00_0010_0000)


def metadata(*rows: tuple[str, int, int], size: int) -> KernelMetadata:
    """``rows``: value kind, offset, size."""
    args = tuple(
        KernelArg(index, f"a{index}", None, ValueKind(kind), kind, length, offset)
        for index, (kind, offset, length) in enumerate(rows)
    )
    return KernelMetadata(
        "k", "k.kd", KernelKind.NORMAL, None, None, args, size, 8, 0, 0, 64, 0, 0, 0, 0, 0, 1024,
        None, None, None, None, False, None, False,
    )


def test_explicit_arguments_go_where_the_metadata_puts_them() -> None:
    meta = metadata(("by_value", 0, 4), ("global_buffer", 8, 8), ("by_value", 16, 3), size=24)
    data = build_segment("k", meta, 24, [b"abcd", b"12345678", b"xyz"], HIDDEN)
    assert data[:24] == b"abcd" + bytes(4) + b"12345678" + b"xyz" + bytes(5)
    assert len(data) == 64


@pytest.mark.parametrize(
    ("kind", "size", "value"),
    [
        ("hidden_block_count_x", 4, 3),
        ("hidden_block_count_y", 4, 1),
        ("hidden_block_count_z", 4, 1),
        ("hidden_group_size_x", 2, 32),
        ("hidden_group_size_y", 2, 4),
        ("hidden_remainder_x", 2, 4),
        ("hidden_remainder_y", 2, 3),
        ("hidden_remainder_z", 2, 0),
        ("hidden_global_offset_x", 8, 0),
        ("hidden_grid_dims", 2, 2),
        ("hidden_dynamic_lds_size", 4, 512),
        ("hidden_private_base", 4, 0x20000),
        ("hidden_shared_base", 4, 0x10000),
        ("hidden_queue_ptr", 8, 0x7F00_0010_0000),
        ("hidden_hostcall_buffer", 8, 0),
        ("hidden_printf_buffer", 8, 0),
        ("hidden_none", 8, 0),
    ],
)
def test_hidden_arguments(kind: str, size: int, value: int) -> None:
    data = build_segment("k", metadata((kind, 8, size), size=16), 16, [], HIDDEN)
    assert int.from_bytes(data[8 : 8 + size], "little") == value
    assert data[:8] == bytes(8)


@pytest.mark.parametrize(
    ("grid", "dimensions"), [((9, 1, 1), 1), ((1, 1, 1), 1), ((9, 2, 1), 2), ((9, 2, 2), 3), ((1, 1, 2), 3)]
)
def test_dimensions_of_a_grid(grid: tuple[int, int, int], dimensions: int) -> None:
    hidden = HiddenValues(grid, (1, 1, 1), 0, 0, 0, 0)
    assert build_segment("k", metadata(("hidden_grid_dims", 0, 2), size=2), 2, [], hidden)[0] == dimensions
    assert KernelPacket(grid, (1, 1, 1), 0, 0, 0, 0).to_bytes()[2] == dimensions


def test_raw_bytes_are_for_kernels_without_metadata() -> None:
    assert build_segment("k", None, 8, b"0123456789", HIDDEN)[:12] == b"0123456789\0\0"
    with pytest.raises(KernargError, match="must be given as raw bytes"):
        build_segment("k", None, 8, [b"1234"], HIDDEN)


@pytest.mark.parametrize(
    ("rows", "size", "arguments", "text"),
    [
        ([("by_value", 0, 4)], 8, [], r"takes 1 arguments \(a0\), 0 are given"),
        (
            [("by_value", 0, 4)],
            8,
            [b"12345678"],
            r"argument 0: 8 bytes are given, but the kernel expects 4 \(a0\)",
        ),
        ([("by_value", 6, 4)], 8, [b"1234"], "at bytes 6 to 10, but the kernarg segment has 8 bytes"),
        ([("hidden_none", 0, 1 << 40)], 8, [], "but the kernarg segment has 8 bytes"),
        ([], 1 << 40, [], "the limit is"),
    ],
)
def test_misfits(rows: list[tuple[str, int, int]], size: int, arguments: list[bytes], text: str) -> None:
    with pytest.raises(KernargError, match=text):
        build_segment("k", metadata(*rows, size=size), 8, arguments, HIDDEN)


def test_dispatch_packet_layout() -> None:
    packet = KernelPacket((1000, 20, 1), (64, 2, 1), 16, 4096, 0x7F01, 0x7F02).to_bytes()
    header, setup, *groups = struct.unpack_from("<5H", packet)
    assert (header & 0xFF, setup, groups) == (2, 2, [64, 2, 1])
    assert struct.unpack_from("<3I", packet, 12) == (1000, 20, 1)
    assert struct.unpack_from("<IIQQ", packet, 24) == (16, 4096, 0x7F01, 0x7F02)
    assert len(packet) == 64


def test_queue_layout() -> None:
    queue = Queue(0x1000, 64, 0x10000, 0x20000, (1, 2, 3, 4), 0x5000, 600, 7, 9, 8).to_bytes()
    # Where LLVM reads group_segment_aperture_base_hi and private_segment_aperture_base_hi.
    assert struct.unpack_from("<II", queue, 0x40) == (0x10000, 0x20000)
    assert struct.unpack_from("<Q", queue, 56) == (9,)
    assert struct.unpack_from("<Q", queue, 128) == (8,)
    assert struct.unpack_from("<4IQQI", queue, 144) == (1, 2, 3, 4, 0x5000, 600, 7)
    assert len(queue) == 256
