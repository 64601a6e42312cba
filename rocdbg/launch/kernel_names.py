"""Finds kernels by the names that users type: symbol, metadata name, source name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from rocdbg import text
from rocdbg.codeobject import CodeObject, CodeObjectError, Kernel
from rocdbg.codeobject.demangle import base_name, demangle, function_name, matches_symbol
from rocdbg.codeobject.metadata import KernelKind
from rocdbg.dwarf.info import DebugInfo, SourceFile
from rocdbg.launch.errors import LaunchError

# Itanium mangling of a name at namespace scope: _Z, length, identifier. What follows are parameters or
# template
# arguments. Nested names (_ZN...) are left to the debug information.
_SIMPLE_MANGLED = re.compile(r"_Z(\d+)")
_IN_FILE = re.compile(r"(?P<file>[^:]*\.\w+):(?P<name>[^:].*)", re.DOTALL)
"""A name prefixed with the file of its kernel."""


def near_names(name: str, names: list[str]) -> str:
    """Return the end of a message about an unknown kernel: similar names, or the names of the available kernels."""
    if not names:
        return "; there are no kernels"
    near = text.near_names(name, names)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; the kernels are {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}"


class KernelMap(Mapping[str, Kernel]):
    """The kernels of a code object by name: ``saxpy``, ``_Z5saxpyfPKfPfi``, ``ns::reduce<int>``.

    Namespaces may be left out, and the source file may be given (``first.hip:work``). Iteration gives each kernel once,
    by the shortest name that is unique. An unknown or ambiguous name raises a LaunchError that lists the available
    kernels.
    """

    def __init__(self, code_object: CodeObject, debug_info: DebugInfo | None = None) -> None:
        self._code_object = code_object
        self._debug_info = debug_info

    def __getitem__(self, name: str) -> Kernel:
        found = self.candidates(name)
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(self._display_name(kernel.name) for kernel in found[:8])
            more = ", ..." if len(found) > 8 else ""
            raise LaunchError(f"kernel {name}", f"the name matches {len(found)} kernels: {listed}{more}")
        raise LaunchError(
            f"kernel {name}", f"there is no such kernel in {self._code_object.name}{near_names(name, list(self))}"
        )

    def candidates(self, name: str) -> list[Kernel]:
        """All kernels that ``name`` matches; empty when there are none."""
        exact = self._code_object.kernels.find(name)
        if exact is not None:
            return [exact]
        placed = _IN_FILE.fullmatch(name)
        if placed is not None:
            found = [(kernel, self.file_of(kernel)) for kernel in self._named(placed["name"])]
            return [kernel for kernel, file in found if file is not None and file.matches(placed["file"])]
        return self._named(name)

    def file_of(self, kernel: Kernel) -> SourceFile | None:
        """The source file in which a kernel is declared, if debug information states it."""
        function = self._debug_info.function_at(kernel.entry_address) if self._debug_info is not None else None
        return function.decl_file if function is not None else None

    def _named(self, name: str) -> list[Kernel]:
        symbols = list(self._by_source_name.get(name, ()))
        if not symbols and self._debug_info is not None:
            for function in self._debug_info.functions_named(name):
                symbol = function.linkage_name or function.name
                if symbol is not None and symbol not in symbols:
                    symbols.append(symbol)
        symbols = symbols or self._by_full_name.get(_key(name), [])
        symbols = symbols or [symbol for symbol in self._code_object.kernels if matches_symbol(name, symbol)]
        kernels = (self._code_object.kernels.find(symbol) for symbol in symbols)
        return [kernel for kernel in kernels if kernel is not None]

    def only(self) -> Kernel:
        """The kernel if there is just one, not counting those of kind `init` and `fini`. Raises LaunchError naming them
        otherwise."""
        names = list(self._code_object.kernels)
        if len(names) != 1:
            names = self.normal()
        if len(names) != 1:
            listed = ", ".join(islice(self, 8)) or "none"
            raise LaunchError(
                "kernel", f"say which kernel to launch; {self._code_object.name} has {len(names)}: {listed}"
            )
        return self._code_object.kernels[names[0]]

    def normal(self) -> list[str]:
        """Symbols of ordinary kernels: neither of kind ``init`` nor ``fini``."""
        kernels = self._code_object.kernels
        return [name for name in kernels if kernel_kind(kernels[name]) is KernelKind.NORMAL]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and len(self.candidates(name)) == 1

    def __iter__(self) -> Iterator[str]:
        for symbol in self._code_object.kernels:
            yield self._display_name(symbol)

    def _display_name(self, symbol: str) -> str:
        """The shortest of source name, qualified name and declaration that identifies only this kernel."""
        source = source_name(symbol)
        if source != symbol and len(self._by_source_name.get(source, ())) == 1:
            return source
        for name in (function_name(symbol), demangle(symbol)):
            if len(self._by_full_name.get(_key(name), ())) == 1:
                return name
        return symbol

    def __len__(self) -> int:
        return len(self._code_object.kernels)

    @cached_property
    def _by_source_name(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for symbol in self._code_object.kernels:
            names.setdefault(source_name(symbol), []).append(symbol)
        return names

    @cached_property
    def _by_full_name(self) -> dict[str, list[str]]:
        """Kernels by C++ declaration, by qualified name, and by qualified name without template arguments."""
        names: dict[str, list[str]] = {}
        for symbol in self._code_object.kernels:
            for name in {_key(form(symbol)) for form in (demangle, function_name, base_name)}:
                names.setdefault(name, []).append(symbol)
        return names


def kernel_kind(kernel: Kernel) -> KernelKind:
    """The kind of a kernel, which says when it is run; normal if metadata is damaged."""
    try:
        return kernel.metadata.kind if kernel.metadata is not None else KernelKind.NORMAL
    except CodeObjectError:
        return KernelKind.NORMAL


def holder_of(name: str, code_objects: Sequence[KernelMap]) -> int | None:
    """The index of the code object that has the kernel with a name; ``None`` if no code object has it.

    Several units may have the same kernel, instantiated from one template: any of them is used. Kernels of several
    files with a common name raise LaunchError, which says how to select one.
    """
    holders = [index for index, kernels in enumerate(code_objects) if kernels.candidates(name)]
    if len(holders) > 1:
        placed = _placed_names(name, [code_objects[index] for index in holders])
        if len(placed) > 1:
            raise LaunchError(
                f"kernel {name}", f"several files have a kernel of this name; use one of {', '.join(placed[:8])}"
            )
    return holders[0] if holders else None


def only_holder(code_objects: Sequence[KernelMap]) -> int | None:
    """The index of the code object that has the program's only kernel; ``None`` if there are no or several kernels."""
    counts = [len(kernels.normal()) for kernels in code_objects]
    return counts.index(1) if sum(counts) == 1 else None


def names_in(code_objects: Iterable[KernelMap]) -> list[str]:
    """The kernels of all of a program's code objects, each name once; with their files if several share a name."""
    holders: dict[str, list[KernelMap]] = {}
    for kernels in code_objects:
        for name in kernels:
            holders.setdefault(name, []).append(kernels)
    names: list[str] = []
    for name, those in holders.items():
        placed = _placed_names(name, those) if len(those) > 1 else []
        names += placed if len(placed) > 1 else [name]
    return names


def _placed_names(name: str, code_objects: Sequence[KernelMap]) -> list[str]:
    """A name prefixed with the file of each of its kernels; the files are abbreviated as far as they remain distinct.
    """
    found = (kernels.file_of(kernel) for kernels in code_objects for kernel in kernels.candidates(name))
    files = list(dict.fromkeys(file for file in found if file is not None))
    short = len({file.basename for file in files}) == len(files)
    return [f"{file.basename if short else file.path}:{name}" for file in files]


def _key(name: str) -> str:
    """A C++ name in the form used for comparison, without optional spaces."""
    return name.replace(" ", "")


def source_name(symbol: str) -> str:
    """The identifier in a mangled name at namespace scope (``_Z5saxpyfPf``: saxpy); other symbols unchanged.
    """
    match = _SIMPLE_MANGLED.match(symbol)
    if match is None or len(match.group(1)) > 4:
        return symbol
    start, length = match.end(), int(match.group(1))
    return symbol[start : start + length] if start + length <= len(symbol) else symbol
