"""The hardware registers that graphics drivers set up for shaders and that metadata gives by number.

Numbers are those of PAL's metadata: a register's address in dwords.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import Enum
from typing import cast

from rocdbg.errors import Error

COMPUTE_DISPATCH_INITIATOR = 0x2E00
COMPUTE_USER_DATA = 0x2E40

_PAIR = struct.Struct("<II")

USER_DATA_COUNT = 16
"""User data registers of compute waves."""

WAVE32_INITIATOR = 1 << 15
"""CS_W32_EN of COMPUTE_DISPATCH_INITIATOR, from GFX10 on."""


class HardwareStage(Enum):
    """A hardware stage: PAL's name for it, what it runs, and the numbers of PGM_RSRC1 and of the first user data
    register.
    """

    LS = ("ls", "vertices before tessellation", 0x2D4A, 0x2D4C)
    HS = ("hs", "tessellation control", 0x2D0A, 0x2D0C)
    ES = ("es", "vertices before a geometry shader", 0x2CCA, 0x2CCC)
    GS = ("gs", "geometry", 0x2C8A, 0x2C8C)
    VS = ("vs", "vertices", 0x2C4A, 0x2C4C)
    PS = ("ps", "pixels", 0x2C0A, 0x2C0C)
    CS = ("cs", "compute", 0x2E12, COMPUTE_USER_DATA)

    @property
    def word(self) -> str:
        return self.value[0]

    @property
    def purpose(self) -> str:
        return self.value[1]

    @property
    def rsrc1(self) -> int:
        """The number of its PGM_RSRC1; that of PGM_RSRC2 is one higher."""
        return self.value[2]

    @property
    def user_data(self) -> int:
        """The number of its first user data register."""
        return self.value[3]


STAGES = {f".{stage.word}": stage for stage in HardwareStage}
"""The stages by their key in PAL's metadata."""

_COMPUTE = {
    "DISPATCH_INITIATOR": COMPUTE_DISPATCH_INITIATOR, "NUM_THREAD_X": 0x2E07, "NUM_THREAD_Y": 0x2E08,
    "NUM_THREAD_Z": 0x2E09, "PGM_RSRC1": 0x2E12, "PGM_RSRC2": 0x2E13, "TMPRING_SIZE": 0x2E18,
    "PGM_RSRC3": 0x2E28, "SHADER_CHKSUM": 0x2E2A,
}  # fmt: skip
_CONTEXT = {
    1: "(spilled SGPRs)", 2: "(spilled VGPRs)",  # not registers: Mesa's records also contain these counts
    0xA08F: "CB_SHADER_MASK", 0xA1B1: "SPI_VS_OUT_CONFIG", 0xA1B3: "SPI_PS_INPUT_ENA", 0xA1B4: "SPI_PS_INPUT_ADDR",
    0xA1B5: "SPI_INTERP_CONTROL_0", 0xA1B6: "SPI_PS_IN_CONTROL", 0xA1B8: "SPI_BARYC_CNTL", 0xA1BA: "SPI_TMPRING_SIZE",
    0xA1C3: "SPI_SHADER_POS_FORMAT", 0xA1C4: "SPI_SHADER_Z_FORMAT", 0xA1C5: "SPI_SHADER_COL_FORMAT",
    0xA203: "DB_SHADER_CONTROL", 0xA206: "PA_CL_VTE_CNTL", 0xA207: "PA_CL_VS_OUT_CNTL", 0xA290: "VGT_GS_MODE",
    0xA2CE: "VGT_GS_MAX_VERT_OUT", 0xA2D5: "VGT_SHADER_STAGES_EN", 0xA2D6: "VGT_LS_HS_CONFIG", 0xA2DB: "VGT_TF_PARAM",
    0xA2E4: "VGT_GS_INSTANCE_CNT",
}  # fmt: skip
_GRAPHICS_USER_DATA = 32


def _named() -> dict[int, str]:
    names = dict(_CONTEXT)
    names |= {number: f"COMPUTE_{name}" for name, number in _COMPUTE.items()}
    names |= {COMPUTE_USER_DATA + n: f"COMPUTE_USER_DATA_{n}" for n in range(USER_DATA_COUNT)}
    for stage in HardwareStage:
        if stage is not HardwareStage.CS:
            suffix = stage.word.upper()
            names |= {stage.rsrc1 + n: f"SPI_SHADER_PGM_RSRC{n + 1}_{suffix}" for n in (0, 1)}
            names |= {stage.user_data + n: f"SPI_SHADER_USER_DATA_{suffix}_{n}" for n in range(_GRAPHICS_USER_DATA)}
    return names


REGISTER_NAMES = _named()

_NUMBERS = {name: number for number, name in REGISTER_NAMES.items()}


class UnknownRegisterError(Error):
    """``name`` is not a register that a launch may set."""

    def __init__(self, name: str) -> None:
        self.name = name
        known = ", ".join(_SETTABLE)
        super().__init__(f"register {name} cannot be given for a launch; those that can are {known}")


_SETTABLE = (
    "COMPUTE_PGM_RSRC1", "COMPUTE_PGM_RSRC2", "COMPUTE_PGM_RSRC3", "COMPUTE_DISPATCH_INITIATOR",
    *(f"COMPUTE_USER_DATA_{n}" for n in range(USER_DATA_COUNT)),
)  # fmt: skip


def register_number(name: str) -> int:
    """The number of a register that drivers set for a dispatch. Raises `UnknownRegisterError`."""
    if name not in _SETTABLE:
        raise UnknownRegisterError(name)
    return _NUMBERS[name]


class UserData(Enum):
    """Contents of user data registers that are not entries of the application."""

    GLOBAL_TABLE = (0x1000_0000, "global internal table")
    SHADER_TABLE = (0x1000_0001, "per-shader internal table")
    SPILL_TABLE = (0x1000_0002, "spill table")
    BASE_VERTEX = (0x1000_0003, "vertex offset")
    BASE_INSTANCE = (0x1000_0004, "instance offset")
    DRAW_INDEX = (0x1000_0005, "draw index")
    GROUP_COUNTS = (0x1000_0006, "address of the workgroup counts")
    GDS_RANGE = (0x1000_0007, "GDS range")
    BASE_INDEX = (0x1000_0008, "index offset")
    INDEX_SIZE = (0x1000_0009, "logarithm of the index size")
    ES_GS_LDS_SIZE = (0x1000_000A, "LDS between ES and GS")
    VIEW_ID = (0x1000_000B, "view id")
    STREAM_OUT_TABLE = (0x1000_000C, "stream-out table")
    PERFORMANCE_DATA = (0x1000_000D, "performance data")
    VERTEX_BUFFERS = (0x1000_000F, "vertex buffer table")
    UAV_EXPORTS = (0x1000_0010, "UAV export table")
    CULLING_DATA = (0x1000_0011, "culling data")
    TASK_DIMENSIONS = (0x1000_0012, "task dispatch dimensions")
    TASK_RING_INDEX = (0x1000_0013, "task ring index")
    PIPELINE_STATISTICS = (0x1000_0014, "pipeline statistics")
    FETCH_SHADER = (0x1000_0015, "fetch shader")

    @property
    def code(self) -> int:
        return self.value[0]

    @property
    def words(self) -> str:
        return self.value[1]


_BY_CODE = {kind.code: kind for kind in UserData}

UNUSED = 0xFFFF_FFFF
"""The word for an unused register in ``.user_data_reg_map``."""

MAX_ENTRIES = 0x1000_0000


def user_data(value: int) -> UserData | int | None:
    """The meaning of a mapping word: one of the driver's values, the number of an entry, or None if it is not known."""
    return value if value < MAX_ENTRIES else _BY_CODE.get(value)


def user_data_text(value: int) -> str:
    """The meaning of a mapping word as text."""
    found = user_data(value)
    if isinstance(found, int):
        return f"entry {found}"
    return found.words if found is not None else "unused" if value == UNUSED else f"{value:#x}"


def register_pairs(data: bytes) -> Iterator[tuple[int, int]]:
    """Consecutive pairs of register and value, as dwords."""
    return cast("Iterator[tuple[int, int]]", _PAIR.iter_unpack(data[: len(data) // 8 * 8]))


def register_text(number: int, value: int) -> str:
    """The name of a register, with its contents for user data; empty if it is unknown."""
    name = REGISTER_NAMES.get(number, "")
    return f"{name}: {user_data_text(value)}" if "USER_DATA" in name else name


__all__ = [
    "COMPUTE_DISPATCH_INITIATOR",
    "MAX_ENTRIES",
    "REGISTER_NAMES",
    "STAGES",
    "UNUSED",
    "USER_DATA_COUNT",
    "WAVE32_INITIATOR",
    "HardwareStage",
    "UnknownRegisterError",
    "UserData",
    "register_number",
    "register_pairs",
    "register_text",
    "user_data",
    "user_data_text",
]
