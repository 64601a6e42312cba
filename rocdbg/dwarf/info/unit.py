"""Units of ``.debug_info``."""

from __future__ import annotations

from functools import cached_property

from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.model import AddressRange, SourceFile


class Unit:
    """A unit: its header, and what its top entry says about all of it.

    ``offset`` and ``end`` in ``.debug_info``; ``version`` 2 to 5; ``address_size`` and ``offset_size`` (4 or 8) in bytes.
    """

    offset: int
    end: int
    version: int
    address_size: int
    offset_size: int

    @cached_property
    def top(self) -> Die:
        """The unit's own entry."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Name of the primary source file, as given to the compiler."""
        raise NotImplementedError

    @property
    def comp_dir(self) -> str:
        """Directory of the compilation, empty when unknown."""
        raise NotImplementedError

    @property
    def producer(self) -> str:
        """The compiler's name for itself."""
        raise NotImplementedError

    @property
    def language(self) -> int | None:
        """DW_LANG_* code (see ``constants.Lang``)."""
        raise NotImplementedError

    @property
    def language_name(self) -> str:
        """Language as GDB writes it: ``c``, ``c++``, ``opencl``, ``asm``, ..., ``unknown``. HIP is ``c++``."""
        raise NotImplementedError

    @property
    def augmentation(self) -> str:
        """DW_AT_LLVM_augmentation, such as ``[amdgpu:v0.0]``; empty without one."""
        raise NotImplementedError

    @property
    def dialect(self) -> str:
        """Which encoding of the heterogeneous extensions is used: ``"amd"``, ``"proposal2020"`` or ``"llvm22"``."""
        raise NotImplementedError

    @property
    def base_address(self) -> int:
        """Base of the unit's location and range lists: its DW_AT_low_pc, else 0."""
        raise NotImplementedError

    @cached_property
    def debug_addr(self) -> list[int]:
        """The unit's part of ``.debug_addr``: what address indices in its expressions and lists stand for."""
        raise NotImplementedError

    @cached_property
    def ranges(self) -> tuple[AddressRange, ...]:
        """The unit's code."""
        raise NotImplementedError

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """Files of its line table; the first is the primary source file."""
        raise NotImplementedError

    def die(self, offset: int) -> Die:
        """The entry at ``offset`` *relative to the unit*, as DW_OP_convert and others give it."""
        raise NotImplementedError
