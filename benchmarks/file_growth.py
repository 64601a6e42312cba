#!/usr/bin/env python3
"""How the time for a file grows with the number of each kind of item that a file may contain in large numbers.

    benchmarks/file_growth.py [NAME ...]

Each row is one kind of item: seconds of processor time to open files with 100, 1,000 and 10,000 items and to run the
commands that examine all of them. Rows that grow faster than n log n are marked.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import io
import os
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import msgpack  # noqa: E402
from file_attacks import bundles, elf_files, kinds  # noqa: E402
from file_attacks import dwarf_files as d  # noqa: E402

from rocdbg.cli.shell import Shell  # noqa: E402
from rocdbg.cli.writer import Writer  # noqa: E402
from rocdbg.debugger.session import Session  # noqa: E402
from rocdbg.errors import Error  # noqa: E402

COUNTS = (100, 1_000, 10_000)
KERNEL = {".name": "saxpy", ".symbol": "saxpy.kd", ".kernarg_segment_size": 32, ".args": []}
FUNCTIONS = ("info functions", "break f5", "info scope f5", "info line f5", "list f5", "disassemble /s saxpy", "info symbol 0x1a10")
TYPES = ("info types .", "ptype S5", "whatis S5", "print sizeof(S5)", "print (S5*)0", "ptype/o S5")
RUN = (*kinds.START, "info locals", "print v", "bt", "info scope saxpy", "next")


def symbols(count: int, one_name: bool = False) -> bytes:
    elf = elf_files.Elf.read()
    names, rows = b"\0same\0", []
    for number in range(count):
        at = 1 if one_name else len(names)
        names += b"" if one_name else b"s%d\0" % number
        rows.append(elf_files.SYMBOL.pack(at, 0x12, 0, 7, 0x1A00 + 4 * (number % 500), 4 * (number % 3)))
    for section in elf.sections:
        if section.name == b".symtab":
            section.data, section.offset, section.size = bytes(24) + b"".join(rows), None, None
        if section.name == b".strtab":
            section.data, section.offset, section.size = names, None, None
    return elf.build()


def kernels(count: int) -> bytes:
    """Kernels with descriptors, in metadata and symbols."""
    elf = elf_files.Elf.read()
    names, rows = b"\0", []
    for number in range(count):
        for text, value, index, info in ((b"k%d" % number, 0x1A00, 7, 0x12), (b"k%d.kd" % number, 0x940, 6, 0x11)):
            rows.append(elf_files.SYMBOL.pack(len(names), info, 0, index, value, 64))
            names += text + b"\0"
    for section in elf.sections:
        if section.name == b".symtab":
            section.data, section.offset, section.size = bytes(24) + b"".join(rows), None, None
        if section.name == b".strtab":
            section.data, section.offset, section.size = names, None, None
    data = msgpack.packb({"amdhsa.version": [1, 2], "amdhsa.kernels": [{**KERNEL, ".name": f"k{n}", ".symbol": f"k{n}.kd"} for n in range(count)]})
    elf.put(b".note", elf_files.note(b"AMDGPU", 32, data), offset=None, kind=7)
    for at in range(64, 64 + 56 * elf.body[56], 56):
        if elf.body[at] == 4:
            elf.body[at] = 0
    return elf.build()


def arguments(count: int) -> bytes:
    args = [{".name": f"a{n}", ".size": 8, ".offset": 8 * n, ".value_kind": "by_value"} for n in range(count)]
    return elf_files.with_note(msgpack.packb({"amdhsa.version": [1, 2], "amdhsa.kernels": [{**KERNEL, ".args": args}]}))


def yaml(count: int) -> bytes:
    text = "Version: [1, 0]\nKernels:\n" + "".join(f"  - Name: k{n}\n    SymbolName: k{n}@kd\n" for n in range(count))
    return elf_files.with_note(text.encode(), v2=True)


def sections(count: int) -> bytes:
    elf = elf_files.Elf.read()
    elf.sections += [elf_files.Section(b".x%d" % number, data=b"x") for number in range(count)]
    return elf.build()


def notes(count: int) -> bytes:
    elf = elf_files.Elf.read()
    elf.put(b".note", elf.sections[0].data + elf_files.note(b"AMD", 11, b"x") * count, offset=None, kind=7)
    for at in range(64, 64 + 56 * elf.body[56], 56):
        if elf.body[at] == 4:
            elf.body[at] = 0
    return elf.build()


def relocations(count: int) -> bytes:
    elf = elf_files.Elf.read()
    elf.body[16:18] = b"\1\0"
    elf.put(b".rela.text", struct.pack("<QQq", 0, 1 << 32 | 7, 0) * count, kind=4, info=7, link=21)
    return elf.build()


def entries(count: int) -> bytes:
    rows = [(32, 0, bundles.IDS[0] + b"%d" % number) for number in range(count)]
    table = b"".join(struct.pack("<QQQ", offset, size, len(name)) + name for offset, size, name in rows)
    return bundles.MAGIC + struct.pack("<Q", count) + table


def many_bundles(count: int) -> bytes:
    return (struct.pack("<4sHHIQ", b"CCOB", 1, 0, 32, 0) + zlib.compress(bundles.MAGIC + bytes(8))) * count


def dwarf(*dies: d.Die, lines: bytes | None = None, frames: bytes | None = None) -> bytes:
    top = d.Die(0x11).add(d.NAME, *d.text(b"saxpy.hip")).add(d.LANGUAGE, *d.udata(0x21)).add(d.STMT_LIST, 0x17, bytes(4))
    top.add(d.LOW_PC, 0x01, d.LOW.to_bytes(8, "little")).add(d.HIGH_PC, *d.udata(d.HIGH - d.LOW))
    top.children += dies
    info, table = d.Writer().write(top)
    elf = elf_files.Elf.read()
    kept = {name: section.data for name in (b".debug_line", b".debug_line_str") if (section := elf.get(name))}
    elf.drop_debug()
    for name, data in {**kept, b".debug_info": info, b".debug_abbrev": table}.items():
        elf.put(name, data)
    if lines is not None:
        elf.put(b".debug_line", lines)
    if frames is not None:
        elf.put(b".debug_frame", frames)
    return elf.build()


def code(die: d.Die, low: int = d.LOW, high: int = d.HIGH) -> d.Die:
    return die.add(d.LOW_PC, 0x01, low.to_bytes(8, "little")).add(d.HIGH_PC, *d.udata(high - low))


def function(name: bytes, *children: d.Die) -> d.Die:
    die = code(d.Die(0x2E).add(d.NAME, *d.text(name)))
    die.children += children
    return die


INT = d.Die(0x24).add(d.NAME, *d.text(b"int")).add(d.BYTE_SIZE, *d.udata(4)).add(d.ENCODING, *d.udata(5))
HERE = d.block(b"\x03" + d.LOW.to_bytes(8, "little"))


def variable(name: bytes, type_: d.Die) -> d.Die:
    return d.Die(0x34).add(d.NAME, *d.text(name)).add(d.TYPE, 0x13, type_).add(d.LOCATION, *HERE)


def functions(count: int, low: bool = True) -> bytes:
    return dwarf(INT, function(b"saxpy"), *[function(b"f%d" % number) for number in range(count)])


def types(count: int) -> bytes:
    dies = []
    for number in range(count):
        die = d.Die(0x13).add(d.NAME, *d.text(b"S%d" % number)).add(d.BYTE_SIZE, *d.udata(4))
        die.children.append(d.Die(0x0D).add(d.NAME, *d.text(b"m")).add(d.TYPE, 0x13, INT))
        dies.append(die)
    return dwarf(INT, *dies, function(b"saxpy"))


def members(count: int) -> bytes:
    die = d.Die(0x13).add(d.NAME, *d.text(b"S5")).add(d.BYTE_SIZE, *d.udata(4 * count))
    die.children += [d.Die(0x0D).add(d.NAME, *d.text(b"m%d" % n)).add(d.TYPE, 0x13, INT).add(d.MEMBER_LOCATION, *d.udata(4 * n)) for n in range(count)]
    return dwarf(INT, die, function(b"saxpy", variable(b"v", die)))


def enumerators(count: int) -> bytes:
    die = d.Die(0x04).add(d.NAME, *d.text(b"S5")).add(d.BYTE_SIZE, *d.udata(4))
    die.children += [d.Die(0x28).add(d.NAME, *d.text(b"e%d" % n)).add(d.CONST_VALUE, *d.udata(n)) for n in range(count)]
    return dwarf(INT, die, function(b"saxpy", variable(b"v", die)))


def locals_(count: int) -> bytes:
    return dwarf(INT, function(b"saxpy", *[variable(b"v%d" % n, INT) for n in range(count)]))


def local_types(count: int) -> bytes:
    dies = []
    for number in range(count):
        die = d.Die(0x13).add(d.NAME, *d.text(b"S%d" % number)).add(d.BYTE_SIZE, *d.udata(4))
        die.children.append(d.Die(0x0D).add(d.NAME, *d.text(b"m")).add(d.TYPE, 0x13, INT))
        dies += [die, variable(b"v%d" % number, die)]
    return dwarf(INT, function(b"saxpy", *dies))


def nested(tag: int, count: int) -> bytes:
    inner = d.Die(tag)
    for _ in range(count):
        outer = d.Die(tag, [], [inner]).add(d.NAME, *d.text(b"n"))
        inner = code(outer) if tag == 0x0B else outer
    return dwarf(INT, function(b"saxpy", *([inner] if tag == 0x0B else [])), *([] if tag == 0x0B else [inner]))


def inlined(count: int) -> bytes:
    origin = d.Die(0x2E).add(d.NAME, *d.text(b"f5")).add(d.INLINE, *d.udata(1))
    calls = [code(d.Die(0x1D).add(d.ABSTRACT_ORIGIN, 0x13, origin), d.LOW + 4 * (n % 100), d.LOW + 4 * (n % 100) + 4) for n in range(count)]
    return dwarf(INT, origin, function(b"saxpy", *calls))


def same_name(count: int) -> bytes:
    return dwarf(INT, *[function(b"f5") for _ in range(count)], function(b"saxpy"))


def units(count: int) -> bytes:
    top = d.Die(0x11).add(d.NAME, *d.text(b"saxpy.hip")).add(d.STMT_LIST, 0x17, bytes(4))
    top.children.append(function(b"f5"))
    info, table = d.Writer().write(top)
    elf = elf_files.Elf.read()
    elf.put(b".debug_info", info * count)
    elf.put(b".debug_abbrev", table)
    return elf.build()


def line_table(program: bytes, names: bytes = b"saxpy.hip\0\0\0\0\0") -> bytes:
    head = bytes((1, 1, 1, 251, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)) + b"\0" + names
    body = b"\4\0" + len(head).to_bytes(4, "little") + head + program
    return len(body).to_bytes(4, "little") + body


def rows(count: int) -> bytes:
    program = b"\0\x09\x02" + d.LOW.to_bytes(8, "little") + b"".join(b"\x03\1\1" if n % 9 else b"\x02\x01\1" for n in range(count))
    return dwarf(INT, function(b"saxpy"), lines=line_table(program + b"\0\1\1"))


def sequences(count: int) -> bytes:
    one = b"\0\x09\x02" + d.LOW.to_bytes(8, "little") + b"\x03\1\1\x02\x10\0\1\1"
    return dwarf(INT, function(b"saxpy"), lines=line_table(one * count))


def files(count: int) -> bytes:
    names = b"".join(b"f%d.h\0\0\0\0" % number for number in range(count)) + b"\0"
    program = b"\0\x09\x02" + d.LOW.to_bytes(8, "little") + b"\x03\1\1\x02\x80\2\0\1\1"
    return dwarf(INT, function(b"saxpy"), lines=line_table(program, names))


def frames(count: int) -> bytes:
    cie = b"\xff\xff\xff\xff\x04\0\x08\0\x04\x04\x10" + b"\0" * 5
    data = len(cie).to_bytes(4, "little") + cie
    for number in range(count):
        fde = bytes(4) + (d.LOW + 4 * number).to_bytes(8, "little") + (4).to_bytes(8, "little") + bytes(4)
        data += len(fde).to_bytes(4, "little") + fde
    return dwarf(INT, function(b"saxpy"), frames=data)


def cfa_rows(count: int) -> bytes:
    cie = b"\xff\xff\xff\xff\x04\0\x08\0\x04\x04\x10" + b"\0" * 5
    program = b"\x41\x0a" * count
    fde = bytes(4) + d.LOW.to_bytes(8, "little") + (1 << 20).to_bytes(8, "little") + program
    data = len(cie).to_bytes(4, "little") + cie + len(fde).to_bytes(4, "little") + fde
    return dwarf(INT, function(b"saxpy"), frames=data)


def launch_file(count: int) -> bytes:
    buffers = '[[arg]]\nbuffer = "f32[4]"\n' * min(count, 1000) + f"[[arg]]\nvalue = [{'1,' * count}]\ntype = 'i32[{count}]'\n"
    return f'[launch]\nfile = "file.co"\ngrid = 64\n{buffers}'.encode()


def operations(count: int) -> bytes:
    type_ = d.Die(0x34).add(d.NAME, *d.text(b"v")).add(d.TYPE, 0x13, INT).add(d.LOCATION, *d.block(b"\x30\x13" * count + HERE[1][1:]))
    return dwarf(INT, function(b"saxpy", type_))


CASES: dict[str, tuple[Callable[[int], bytes], tuple[str, ...]]] = {
    "symbols": (symbols, ("info symbol 0x1a10", "disassemble saxpy", "info address s5", "break *0x1a00", "info functions s5")),
    "symbols of one name": (lambda n: symbols(n, True), ("info symbol 0x1a10", "disassemble 0x1a00,0x1b00", "info address same", "break same")),
    "kernels": (kernels, ("info kernels", "kernel k5", "kernel nothere", "break k5", "info functions k5", "set grid 64", "set workgroup 64", "start")),
    "arguments": (arguments, ("info kernels", "show launch", *kinds.START[:8])),
    "YAML kernels": (yaml, ("info kernels", "kernel k5")),
    "sections": (sections, ("info files", "info symbol 0x1a10", "disassemble saxpy")),
    "notes": (notes, ("info kernels",)),
    "relocations": (relocations, ("info kernels", *kinds.START[:8])),
    "bundle entries": (entries, ()),
    "bundles": (many_bundles, ()),
    "functions": (functions, FUNCTIONS),
    "functions of one name": (same_name, FUNCTIONS),
    "types": (types, TYPES),
    "members": (members, (*TYPES, *RUN)),
    "enumerators": (enumerators, (*TYPES, *RUN)),
    "locals": (locals_, RUN),
    "types in a function": (local_types, (*TYPES, *RUN)),
    "blocks in each other": (lambda n: nested(0x0B, n), RUN),
    "namespaces in each other": (lambda n: nested(0x39, n), FUNCTIONS),
    "inlined calls": (inlined, (*FUNCTIONS, *RUN)),
    "units": (units, FUNCTIONS),
    "line rows": (rows, (*FUNCTIONS, "maint info line-table", "info line 5", "break 5", *RUN)),
    "line sequences": (sequences, (*FUNCTIONS, "maint info line-table", "info line 2", "break 2", *RUN)),
    "files": (files, (*FUNCTIONS, "info sources", "list f5.h:1", "break f5.h:1", *RUN)),
    "frame entries": (frames, ("maint dwarf cfi", *RUN)),
    "frame rows": (cfa_rows, ("maint dwarf cfi", *RUN)),
    "operations": (operations, (*RUN, "maint dwarf explain v", "info address v")),
    "launch file": (launch_file, ("show launch", "run")),
}


def seconds(data: bytes, commands: tuple[str, ...], folder: Path) -> tuple[float, str]:
    """Processor time of everything, and the slowest command."""
    path = folder / ("launch.toml" if data.startswith(b"[launch]") else "file.co")
    (folder / "file.co").write_bytes(elf_files.BASE.read_bytes())
    path.write_bytes(data)
    started = time.process_time()
    session = Session()
    shell = Shell(session, Writer(io.StringIO()), Writer(io.StringIO()), interactive=False)
    slowest = ("", 0.0)
    for command in ("", *commands):
        before = time.process_time()
        try:
            if command:
                shell.execute(command)
            else:
                session.load(path, "gfx90a" if data.startswith((b"__", b"CC")) else None)
        except Error:
            if not command:
                break
        finally:
            slowest = max(slowest, (command or "load", time.process_time() - before), key=lambda pair: pair[1])
    session.launch.release()
    return time.process_time() - started, slowest[0]


def main() -> int:
    wanted = sys.argv[1:]
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        seconds(functions(3), (*FUNCTIONS, *RUN), folder)
        print(f"{'':26}" + "".join(f"{count:>9,}" for count in COUNTS))
        for title, (make, commands) in CASES.items():
            if wanted and title not in wanted:
                continue
            taken = [seconds(make(count), commands, folder) for count in COUNTS]
            # Ten times as much may take fifteen times as long; less than a tenth of a second says nothing.
            grows = taken[2][0] > max(15 * taken[1][0], 0.15 * 10) or taken[2][0] > 5
            bad += grows
            mark = f"  grows: {taken[2][1]}" if grows else ""
            print(f"{title:26}" + "".join(f"{value:9.3f}" for value, _ in taken) + mark, flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
