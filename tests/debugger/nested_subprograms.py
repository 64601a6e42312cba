"""A code object by clang with hand-made entries: ``inner`` is nested in a block of ``outer``, which calls itself.

The static link of ``inner`` is the address in private_wave that s60 holds. Nothing else writes that register, so a test
selects the frame with it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from rocdbg.codeobject import open_file
from rocdbg.dwarf.info import DebugInfo, Exprloc, Function
from rocdbg.dwarf.operation_assembler import assemble
from tests.debugger.lane_pc_program import Entries, exprloc, u, uleb

SOURCE = Path(__file__).parent / "sources" / "nested.hip"
S60 = 32 + 60
LINK = assemble(("regx", S60), ("deref_size", 4), "lit6", "form_aspace_address")
_ABBREVIATIONS = {
    1: (0x11, [(0x25, 0x08), (0x03, 0x08), (0x13, 0x05), (0x10, 0x17)]),  # unit: producer, name, language, lines
    2: (0x24, [(0x03, 0x08), (0x3E, 0x0B), (0x0B, 0x0B)]),  # base type: name, encoding, size
    3: (0x2E, [(0x03, 0x08), (0x11, 0x01), (0x12, 0x06), (0x40, 0x18)]),  # function: name, range, frame base
    4: (0x2E, [(0x03, 0x08), (0x11, 0x01), (0x12, 0x06), (0x40, 0x18), (0x48, 0x18)]),  # and a static link
    5: (0x05, [(0x03, 0x08), (0x49, 0x13), (0x02, 0x18)]),  # parameter: name, type, location
    6: (0x34, [(0x03, 0x08), (0x49, 0x13), (0x02, 0x18)]),  # variable
    7: (0x0B, [(0x11, 0x01), (0x12, 0x06)]),  # block
}


def build(folder: Path) -> Path:
    """Compile and describe; return the path of the code object."""
    plain, done = folder / "plain.co", folder / "nested.co"
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
         "-O0", "--no-gpu-bundle-output", SOURCE.name, "-o", str(plain)],
        cwd=SOURCE.parent, check=True, timeout=120,
    )
    code = open_file(plain)
    info = DebugInfo({name: s.data for name, s in code.sections.items() if name.startswith(".debug")})
    entries = Entries()
    entries.add(1, "clang version 22", SOURCE.name, u(0x21, 2), u(0, 4))
    int_ = entries.add(2, "int", b"\x05\x04")
    for name, nested in (("outer", "inner"), ("kernel", "")):
        (function,) = info.functions_named(name)
        _function(entries, 3, function, int_)
        if nested:
            entries.add(7, u(function.low_pc or 0, 8), u((function.high_pc or 0) - (function.low_pc or 0), 4))
            (inner,) = info.functions_named(nested)
            _function(entries, 4, inner, int_, LINK)
            entries.end()
            entries.end()
        entries.end()
    entries.end()
    header = u(5, 2) + b"\x01\x08" + u(0, 4)
    sections = {
        ".debug_info": u(len(header) + len(entries.data), 4) + header + bytes(entries.data),
        ".debug_abbrev": _abbreviations(),
    }
    command = ["llvm-objcopy-22", "--remove-section=.debug_addr", "--remove-section=.debug_str_offsets"]
    for name, data in sections.items():
        (folder / name[1:]).write_bytes(data)
        command += [f"--remove-section={name}", f"--add-section={name}={folder / name[1:]}"]
    subprocess.run([*command, str(plain), str(done)], check=True, timeout=60)
    return done


def _function(entries: Entries, abbreviation: int, function: Function, int_: int, link: bytes = b"") -> None:
    low, high = function.low_pc or 0, function.high_pc or 0
    base = function.frame_base
    assert isinstance(base, Exprloc)
    entries.add(abbreviation, function.name or "", u(low, 8), u(high - low, 4), exprloc(base.data),
                exprloc(link) if link else b"")
    for variable in function.variables if function.name != "kernel" else ():
        assert isinstance(variable.location, Exprloc)
        code = 5 if variable.is_parameter else 6
        entries.add(code, variable.name or "", u(int_, 4), exprloc(variable.location.data))


def _abbreviations() -> bytes:
    data = bytearray()
    for code, (tag, attributes) in _ABBREVIATIONS.items():
        data += uleb(code) + uleb(tag) + bytes([tag in (0x11, 0x2E, 0x0B)])
        for attribute, form in attributes:
            data += uleb(attribute) + uleb(form)
        data += b"\0\0"
    return bytes(data) + b"\0"
