"""Reads metadata notes: YAML for code object V2, MsgPack for V3 and later.

V2's keys and values are renamed to those of V3, then both are read by the same code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rocdbg import work
from rocdbg.codeobject.elf_notes import NT_AMD_HSA_METADATA, NT_AMD_PAL_METADATA, NT_AMDGPU_METADATA, Note
from rocdbg.codeobject.errors import CodeObjectError
from rocdbg.codeobject.metadata import (
    Access,
    ArgAddressSpace,
    KernelArg,
    KernelKind,
    KernelMetadata,
    ValueKind,
)
from rocdbg.codeobject.metadata_map import MetadataMap
from rocdbg.codeobject.metadata_text import metadata_lines
from rocdbg.codeobject.msgpack_reader import MsgPackDamage, read_msgpack
from rocdbg.codeobject.shader_registers import register_pairs
from rocdbg.codeobject.yaml_reader import YamlDamage, read_yaml
from rocdbg.text import decode_lines, printable

_MAX_TOTAL = 32 << 20
"""Maximum total size of the notes in bytes; while they are read, they take up to twenty times as much memory."""
_KERNELS = "amdhsa.kernels"
_PIPELINES = "amdpal.pipelines"

# V2's keys that V3 names differently; all other keys are converted from CamelCase to snake_case.
_V2_KEYS = {
    "SymbolName": "symbol", "AddrSpaceQual": "address_space", "AccQual": "access",
    "ActualAccQual": "actual_access",
    "ReqdWorkGroupSize": "reqd_workgroup_size", "WorkGroupSizeHint": "workgroup_size_hint",
    "RuntimeHandle": "device_enqueue_symbol", "NumSGPRs": "sgpr_count", "NumVGPRs": "vgpr_count",
    "NumSpilledSGPRs": "sgpr_spill_count", "NumSpilledVGPRs": "vgpr_spill_count",
    "MaxFlatWorkGroupSize": "max_flat_workgroup_size", "IsDynamicCallStack": "uses_dynamic_stack",
}
_V2_VALUES = {"HiddenMultiGridSyncArg": "hidden_multigrid_sync_arg"}
_V2_ENUM_KEYS = {"ValueKind", "ValueType", "AddrSpaceQual", "AccQual", "ActualAccQual"}


class Metadata:
    """The metadata of one code object.

    Kernels are decoded one by one, when requested: iterate `kernel_names`, look up with `kernel`.
    """

    def __init__(self, file: str, section: str, offset: int, root: Mapping[Any, Any]) -> None:
        self._root = MetadataMap(file, section, offset, "", root)
        self.version: tuple[int, ...] = self._root.integers("amdhsa.version") or (0, 0)
        """The version of the metadata (1.0 for V2 and V3, 1.1 for V4, 1.2 for V5 and V6)."""
        self.target: str | None = self._root.text("amdhsa.target")
        """``amdgcn-amd-amdhsa--gfx90a:xnack+``; None before V4."""
        self._kernels: dict[str, MetadataMap] = {}
        self._by_symbol: dict[str, str] = {}
        self._decoded: dict[str, KernelMetadata] = {}
        for kernel in self._root.maps(_KERNELS):
            work.unit()
            name = kernel.required_text(".name")
            self._kernels.setdefault(name, kernel)
            symbol = kernel.text(".symbol") or name
            self._by_symbol.setdefault(symbol, name)

    @property
    def printf(self) -> tuple[str, ...]:
        """The encoded printf formats."""
        return self._root.texts("amdhsa.printf")

    @property
    def pipelines(self) -> tuple[MetadataMap, ...]:
        """The pipelines in PAL's metadata; raises `CodeObjectError` if they are not a sequence of maps."""
        return tuple(self._root.maps(_PIPELINES))

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """Metadata names of all kernels, in order."""
        return tuple(self._kernels)

    def symbol_of(self, name: str) -> str | None:
        """The descriptor symbol of the kernel with this metadata name, without decoding the kernel."""
        kernel = self._kernels.get(name)
        return None if kernel is None else kernel.text(".symbol") or name

    def kernel(self, name: str) -> KernelMetadata | None:
        """The kernel with this metadata name; raises `CodeObjectError` if its entry is damaged."""
        if name not in self._decoded:
            entry = self._kernels.get(name)
            if entry is None:
                return None
            self._decoded[name] = _kernel(entry)
        return self._decoded[name]

    def kernel_by_symbol(self, symbol: str) -> KernelMetadata | None:
        """The kernel with this descriptor symbol; raises `CodeObjectError` if its entry is damaged."""
        name = self._by_symbol.get(symbol)
        return None if name is None else self.kernel(name)


def read_metadata(file: str, notes: list[Note]) -> Metadata | None:
    """The metadata of a code object's notes; None if there is no such note.  Raises `CodeObjectError`.

    The linker keeps the notes of all objects that it links: each of them lists kernels.
    """
    found: list[tuple[Note, Mapping[Any, Any]]] = []
    total = 0
    for note in notes:
        work.unit()
        total += len(note.description)
        if total > _MAX_TOTAL:
            reason = f"the notes have more than {_MAX_TOTAL} bytes in total"
            raise CodeObjectError(file, reason, section=note.section, offset=note.offset)
        if note.owner == "AMDGPU" and note.type == NT_AMDGPU_METADATA:
            found.append((note, _unpack_msgpack(file, note)))
        elif note.owner == "AMD" and note.type == NT_AMD_HSA_METADATA:
            found.append((note, _rename_v2(_load_yaml(file, note))))
    if not found:
        return None
    first, root = found[0]
    for key in (_KERNELS, _PIPELINES):
        lists = [part[key] for _, part in found if isinstance(part.get(key), list)]
        if len(lists) > 1:
            root = {**root, key: [entry for entries in lists for entry in entries]}
    return Metadata(file, first.section, first.offset, root)


def metadata_text(file: str, notes: list[Note]) -> Iterator[tuple[Note, list[str]]]:
    """Each metadata note with its content as lines of YAML: V2's unchanged, others in LLVM's layout.

    Raises `CodeObjectError` for a note that is damaged.
    """
    for note in notes:
        if note.owner == "AMDGPU" and note.type == NT_AMDGPU_METADATA:
            try:
                yield note, list(metadata_lines(_unpack_msgpack(file, note)))
            except RecursionError:
                reason = "the metadata is nested too deeply to be shown"
                raise CodeObjectError(file, reason, section=note.section, offset=note.offset) from None
        elif note.owner == "AMD" and note.type == NT_AMD_HSA_METADATA:
            lines = decode_lines(note.description.rstrip(b"\0")).strip("\n").split("\n")
            yield note, [printable(line) for line in lines]
        elif note.owner == "AMD" and note.type == NT_AMD_PAL_METADATA:
            yield note, list(metadata_lines({".registers": dict(register_pairs(note.description))}))


def _unpack_msgpack(file: str, note: Note) -> Mapping[Any, Any]:
    try:
        root = read_msgpack(note.description)
    except MsgPackDamage as error:
        reason = f"the metadata is not MsgPack: {error}"
        raise CodeObjectError(file, reason, section=note.section, offset=note.offset) from None
    return _root_map(file, note, root)


def _load_yaml(file: str, note: Note) -> Mapping[Any, Any]:
    try:
        # Scalars remain text, because only the key determines whether a scalar is a number.
        root = read_yaml(decode_lines(note.description.rstrip(b"\0")))
    except YamlDamage as error:
        reason = f"the metadata is not YAML: {error}"
        raise CodeObjectError(file, reason, section=note.section, offset=note.offset) from None
    return _root_map(file, note, root)


def _root_map(file: str, note: Note, root: Any) -> Mapping[Any, Any]:
    if not isinstance(root, dict):
        reason = "the metadata is not a map"
        raise CodeObjectError(file, reason, section=note.section, offset=note.offset)
    return root


def _rename_v2(root: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """V2's top level with V3's names; values of an unexpected type are kept, so that the reader can report them."""
    renamed = {"amdhsa." + _v2_key(key): value for key, value in root.items()}
    kernels = renamed.get(_KERNELS)
    if isinstance(kernels, list):
        renamed[_KERNELS] = [_rename_v2_kernel(k) if isinstance(k, dict) else k for k in kernels]
    return renamed


def _rename_v2_kernel(kernel: Mapping[Any, Any]) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for key, value in kernel.items():
        if key in ("Attrs", "CodeProps") and isinstance(value, dict):
            renamed |= {"." + _v2_key(k): v for k, v in value.items()}
        elif key == "Args" and isinstance(value, list):
            renamed[".args"] = [_rename_v2_arg(a) if isinstance(a, dict) else a for a in value]
        else:
            renamed["." + _v2_key(key)] = value
    symbol = renamed.get(".symbol")
    if isinstance(symbol, str):
        renamed[".symbol"] = symbol.removesuffix("@kd")
    return renamed


def _rename_v2_arg(arg: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "." + _v2_key(key): _V2_VALUES.get(value, _snake(value))
        if key in _V2_ENUM_KEYS and isinstance(value, str)
        else value
        for key, value in arg.items()
    }


def _v2_key(key: object) -> str:
    text = str(key)
    return _V2_KEYS.get(text, _snake(text))


def _snake(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


def _kernel(entry: MetadataMap) -> KernelMetadata:
    name = entry.required_text(".name")
    wgp = entry.flag(".workgroup_processor_mode")
    return KernelMetadata(
        name=name,
        symbol=entry.text(".symbol") or name,
        kind=entry.choice(".kind", KernelKind) or KernelKind.NORMAL,
        language=entry.text(".language"),
        language_version=entry.integers(".language_version"),
        args=tuple(_args(entry)),
        kernarg_segment_size=entry.integer(".kernarg_segment_size"),
        kernarg_segment_align=entry.integer(".kernarg_segment_align", 1),
        group_segment_fixed_size=entry.integer(".group_segment_fixed_size"),
        private_segment_fixed_size=entry.integer(".private_segment_fixed_size"),
        wavefront_size=entry.integer(".wavefront_size"),
        sgpr_count=entry.integer(".sgpr_count"),
        vgpr_count=entry.integer(".vgpr_count"),
        agpr_count=entry.integer(".agpr_count"),
        sgpr_spill_count=entry.integer(".sgpr_spill_count"),
        vgpr_spill_count=entry.integer(".vgpr_spill_count"),
        max_flat_workgroup_size=entry.integer(".max_flat_workgroup_size"),
        reqd_workgroup_size=entry.integers(".reqd_workgroup_size", 3),
        workgroup_size_hint=entry.integers(".workgroup_size_hint", 3),
        vec_type_hint=entry.text(".vec_type_hint"),
        device_enqueue_symbol=entry.text(".device_enqueue_symbol"),
        uses_dynamic_stack=bool(entry.flag(".uses_dynamic_stack")),
        workgroup_processor_mode=wgp,
        uniform_work_group_size=bool(entry.flag(".uniform_work_group_size")),
    )


def _args(kernel: MetadataMap) -> Iterator[KernelArg]:
    end = 0
    for index, arg in enumerate(kernel.maps(".args")):
        work.unit()
        size = arg.integer(".size")
        # Only V2 gives alignments, only V3 and later give offsets.
        align = arg.integer(".align", 1) or 1
        offset = arg.integer(".offset", (end + align - 1) // align * align)
        end = offset + size
        kind_text = arg.text(".value_kind") or "by_value"
        try:
            kind = ValueKind(kind_text)
        except ValueError:
            kind = ValueKind.UNKNOWN
        pointee_align = arg.integer(".pointee_align", 0)
        yield KernelArg(
            index,
            arg.text(".name"),
            arg.text(".type_name"),
            kind,
            kind_text,
            size,
            offset,
            value_type=arg.text(".value_type"),
            address_space=arg.choice(".address_space", ArgAddressSpace),
            access=arg.choice(".access", Access),
            actual_access=arg.choice(".actual_access", Access),
            pointee_align=pointee_align or None,
            is_const=bool(arg.flag(".is_const")),
            is_restrict=bool(arg.flag(".is_restrict")),
            is_volatile=bool(arg.flag(".is_volatile")),
            is_pipe=bool(arg.flag(".is_pipe")),
        )
