"""AMDGPU code objects: opening files and containers, kernels, metadata, descriptors, symbols, loading."""

from __future__ import annotations

from rocdbg.codeobject.code_object import CodeObject
from rocdbg.codeobject.code_object_uri import FileUri, MemoryUri, parse_uri
from rocdbg.codeobject.elf import Section, uncompressed_name
from rocdbg.codeobject.elf_symbols import Symbol, SymbolTable, SymbolType
from rocdbg.codeobject.errors import (
    ChoiceError,
    CodeObjectError,
    NoSuchKernelError,
    UnresolvedSymbolError,
    UriError,
)
from rocdbg.codeobject.finding_code_objects import Entry, list_entries, open_file, open_modules
from rocdbg.codeobject.kernel_descriptor import KernelDescriptor, UserSgpr
from rocdbg.codeobject.kernels import Kernel, Kernels, Shader
from rocdbg.codeobject.load_image import LoadedImage, LoadedSegment
from rocdbg.codeobject.metadata import (
    Access,
    ArgAddressSpace,
    KernelArg,
    KernelKind,
    KernelMetadata,
    ValueKind,
)
from rocdbg.codeobject.metadata_reader import Metadata

__all__ = [
    "Access",
    "ArgAddressSpace",
    "ChoiceError",
    "CodeObject",
    "CodeObjectError",
    "Entry",
    "FileUri",
    "Kernel",
    "KernelArg",
    "KernelDescriptor",
    "KernelKind",
    "KernelMetadata",
    "Kernels",
    "LoadedImage",
    "LoadedSegment",
    "MemoryUri",
    "Metadata",
    "NoSuchKernelError",
    "Section",
    "Shader",
    "Symbol",
    "SymbolTable",
    "SymbolType",
    "UnresolvedSymbolError",
    "UriError",
    "UserSgpr",
    "ValueKind",
    "list_entries",
    "open_file",
    "open_modules",
    "parse_uri",
    "uncompressed_name",
]
