"""Opens code objects: files of their own, and those in offload bundles or binaries, in host files, and in archives of
these.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.arch.target_id import TargetId
from rocdbg.codeobject.archive import is_archive, iter_members
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.code_object import CodeObject
from rocdbg.codeobject.code_object_uri import FileUri, MemoryUri, is_uri, parse_uri
from rocdbg.codeobject.compression import MAX_UNCOMPRESSED, Budget
from rocdbg.codeobject.elf import EM_AMDGPU, SHF_COMPRESSED, Elf, is_elf
from rocdbg.codeobject.errors import ChoiceError, CodeObjectError
from rocdbg.codeobject.file_bytes import FileBytes
from rocdbg.codeobject.offload_binary import OFFLOADING_SECTION, OffloadImage, find_images, is_offload_binary
from rocdbg.codeobject.offload_bundles import Bundle, find_bundles, is_bundle, read_bundle
from rocdbg.codeobject.verbatim_objects import code_at, find_embedded
from rocdbg.regular_file import FileAccessError, open_regular

FATBIN_SECTION = ".hip_fatbin"
MAX_FILE_SIZE = 16 << 30
"""Largest file in bytes that is searched for code objects."""
MAX_CODE_SIZE = MAX_UNCOMPRESSED
"""Total bytes of code objects that are opened together."""

_DEEPEST = 4
"""Maximum nesting of containers: a bundle in an offload binary of a host object in an archive."""
_MOST_ENTRIES = 1 << 18
"""Maximum number of entries of a file: ROCm's largest libraries have thousands."""
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


class Entry(Struct, frozen=True):
    """An entry of a file: a code object, or something that a user could take for one."""

    index: int
    """Position in the file, from 0, across all its bundles."""
    id: str
    """The bundle's entry id; the target id for a plain code object."""
    target_id: TargetId | None
    """None for host entries and for processors that rocdbg does not know."""
    size: int
    uri: FileUri | MemoryUri
    """The bytes of the entry; for an entry of a compressed bundle, the whole bundle."""
    compressed: bool
    member: str | None = None
    """The archive member that contains it."""

    @property
    def is_code_object(self) -> bool:
        return self.target_id is not None and self.size > 0

    @property
    def unit_id(self) -> str:
        """Equal for entries that one device would load together: translation units of a program, members of an archive.
        """
        return self.id if self.member is None else str(self.target_id)

    @property
    def title(self) -> str:
        """The name in messages, within the file."""
        return self.id if self.member is None else f"{self.member}: {self.id}"

    def __str__(self) -> str:
        return f"{self.title} ({self.uri})"


def open_file(path: str | os.PathLike[str], target_id: TargetId | str | None = None) -> CodeObject:
    """Open the code object in a file.

    ``path`` names an AMDGPU ELF code object, an offload bundle, an offload binary of LLVM, a host object, executable or
    library with a .hip_fatbin or .llvm.offloading section or whole code objects among its data (OpenMP), an archive of
    these, or is a ``file://`` URI of one of these or of a range of a file, or a ``memory://`` URI of one in a process
    whose memory this one may read.  ``target_id`` selects one of several. A processor without feature settings matches
    every setting; generic code matches the processors that it covers.

    Raises `ChoiceError` (listing the available entries) if nothing matches or several match equally well,
    `CodeObjectError` if the file cannot be read or is damaged, `UriError`, and the errors of `TargetId.parse`.
    """
    request = _request(target_id)
    with _open_source(path) as place:
        return _choose(place.source.name, list(_find(place)), request).open(place)


def open_modules(path: str | os.PathLike[str], target_id: TargetId | str | None = None) -> list[CodeObject]:
    """Open the code objects that one device would load from a file: the best match of each translation unit, in the
    order of the file.

    Raises the errors of `open_file`, and `ChoiceError` if no ``target_id`` is given and there is code for several
    targets.
    """
    request = _request(target_id)
    with _open_source(path) as place:
        found = list(_find(place))
        fitting = _fitting(found, request)
        if len({item.entry.unit_id for item in fitting}) != 1:
            fitting = [_choose(place.source.name, found, request)]
        total = sum(item.entry.size for item in fitting)
        if total > MAX_CODE_SIZE:
            raise place.source.error(f"the code objects have {total} bytes in total; the limit is {MAX_CODE_SIZE}")
        return list(_open_all(place, fitting))


def list_entries(path: str | os.PathLike[str]) -> list[Entry]:
    """Everything in a file, including host entries; raises `CodeObjectError` and `UriError`."""
    with _open_source(path) as place:
        return [item.entry for item in _find(place)]


class _Place(Struct, frozen=True):
    """The bytes to be searched: a file, or the range of it that a URI gives."""

    source: Source
    file: Path
    base: int
    """Offset of the bytes in the file."""
    whole: bool
    """Whether they are the whole file."""
    process: int | None = None
    """The process whose memory contains them; `base` is then an address."""

    def uri(self, offset: int, size: int) -> FileUri | MemoryUri:
        if self.process is not None:
            return MemoryUri(self.process, self.base + offset, size)
        return FileUri(str(self.file.absolute()), self.base + offset, size)


class _Found(Struct, frozen=True):
    """An entry, and where its bytes are."""

    entry: Entry
    offset: int
    """Offset of its bytes in the place or, if compressed, in the uncompressed bundle."""
    bundle: int | None = None
    """Offset of the compressed bundle that contains it. Uncompressed contents are not kept, because a library may have
    hundreds of bundles.
    """
    code_object: CodeObject | None = None

    def open(self, place: _Place) -> CodeObject:
        """The code object; raises `CodeObjectError`."""
        return next(_open_all(place, [self]))

    def take(self, place: _Place, source: Source) -> CodeObject:
        """The code object, read from the ``source`` to which its offset refers."""
        if self.code_object is not None:
            return self.code_object
        section = f"entry {self.entry.title}"
        data = source.bytes_at(self.offset, self.entry.size, section)
        if not is_elf(data):
            raise source.error("is not an ELF file", section=section, offset=self.offset)
        name = f"{place.file} ({self.entry.title})"
        return CodeObject(data, name=name, path=place.file, uri=self.entry.uri)


def _open_all(place: _Place, items: list[_Found]) -> Iterator[CodeObject]:
    """The code objects of entries; a bundle is unpacked once for neighbouring entries."""
    source, bundle = place.source, None
    for item in items:
        if item.bundle != bundle:
            source = place.source  # frees the previous source before the next one is unpacked
            if item.bundle is not None:
                source = read_bundle(place.source, item.bundle).source
            bundle = item.bundle
        yield item.take(place, source)


@contextmanager
def _open_source(path: str | os.PathLike[str]) -> Iterator[_Place]:
    """Keep the file open while its entries are located and their bytes copied."""
    text = os.fspath(path)
    offset, size = 0, None
    if is_uri(text):
        uri = parse_uri(text)
        if isinstance(uri, MemoryUri):
            memory = Source(text, _read_memory(text, uri))
            yield _Place(memory, Path(f"/proc/{uri.process}/mem"), uri.offset, False, uri.process)
            return
        text = uri.path
        offset, size = uri.offset or 0, uri.size
    with _opened(text) as data:
        source = Source(text, data)
        if size is None:
            yield _Place(source, Path(text), 0, True)
        else:
            if size > MAX_CODE_SIZE:
                raise source.error(f"the range of the URI has {size} bytes; the limit is {MAX_CODE_SIZE}")
            part = Source(str(path), source.bytes_at(offset, size, "range of the URI"))
            yield _Place(part, Path(text), offset, False)


def _read_memory(name: str, uri: MemoryUri) -> bytes:
    """A copy of another process's memory, if the system permits reading it."""
    if not 0 < uri.size <= MAX_CODE_SIZE:
        raise CodeObjectError(
            name, f"the range of the URI has {uri.size} bytes; it must have from 1 to {MAX_CODE_SIZE}"
        )
    try:
        handle = os.open(f"/proc/{uri.process}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise CodeObjectError(name, f"the memory of process {uri.process} cannot be read: {error.strerror}") from None
    parts, done = [], 0
    try:
        while done < uri.size:
            part = os.pread(handle, uri.size - done, uri.offset + done)
            if not part:
                break
            parts.append(part)
            done += len(part)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        where = f"{uri.offset + done:#x}"
        raise CodeObjectError(name, f"process {uri.process} has no readable memory at {where}: {reason}") from None
    finally:
        os.close(handle)
    if done < uri.size:
        raise CodeObjectError(name, f"process {uri.process} has ended")
    return b"".join(parts)


def _opened(path: str) -> FileBytes:
    try:
        data = FileBytes(path, open_regular(path, MAX_FILE_SIZE))
        if not len(data):
            raise CodeObjectError(path, "the file is empty")
        return data
    except FileAccessError as error:
        raise CodeObjectError(path, error.reason) from None
    except OSError as error:
        raise CodeObjectError(path, f"cannot be read: {error.strerror or error}") from None


def _find(place: _Place) -> Iterator[_Found]:
    """The contents of a file, in order."""
    budget = Budget.for_file(len(place.source))
    for index, found in enumerate(_holdings(place, budget, 0)):
        if index == _MOST_ENTRIES:
            raise place.source.error(f"the file contains more than {_MOST_ENTRIES} code objects")
        yield replace(found, entry=replace(found.entry, index=index))


def _holdings(place: _Place, budget: Budget, depth: int) -> Iterator[_Found]:
    """Yield the contents of a place that is already nested in ``depth`` containers."""
    source = place.source
    if is_bundle(source.data):
        yield from _in_bundles(find_bundles(source, 0, len(source), budget), place)
    elif is_offload_binary(source.data):
        yield from _in_images(find_images(source, 0, len(source)), place, budget, depth)
    elif is_archive(source.data):
        yield from _in_archive(place, budget, depth)
    elif is_elf(source.data):
        yield from _in_elf(place, budget, depth)
    else:
        raise source.error("the file is neither an ELF file, nor an offload bundle, nor an archive of these")


def _in_elf(place: _Place, budget: Budget, depth: int) -> Iterator[_Found]:
    source = place.source
    elf = Elf(source)
    if elf.header.machine == EM_AMDGPU:
        if len(source) > MAX_CODE_SIZE:
            raise source.error(f"the code object has {len(source)} bytes; the limit is {MAX_CODE_SIZE}")
        uri = FileUri(str(place.file.absolute())) if place.whole else place.uri(0, len(source))
        code_object = CodeObject(bytes(source.data), name=source.name, path=place.file, uri=uri)
        target_id = code_object.target_id
        entry = Entry(0, str(target_id), target_id, len(source), uri, False)
        yield _Found(entry, 0, code_object=code_object)
        return
    sections = [s for s in elf.section_list if s.name in (FATBIN_SECTION, OFFLOADING_SECTION) and s.has_bytes]
    for section in sections:
        end = section.offset + section.size
        if end > len(source):
            raise source.error("runs past the end of the file", section=f"section {section.name}", offset=end)
        if section.flags & SHF_COMPRESSED:
            raise source.error(
                "the whole section is compressed, which is not supported", section=f"section {section.name}"
            )
        if section.name == FATBIN_SECTION:
            yield from _in_bundles(find_bundles(source, section.offset, end, budget), place)
        else:
            yield from _in_images(find_images(source, section.offset, end), place, budget, depth)
    if sections:
        return
    empty = True
    for code in find_embedded(source):
        uri = place.uri(code.offset, code.size)
        yield _Found(Entry(0, str(code.target_id), code.target_id, code.size, uri, False), code.offset)
        empty = False
    if empty:
        reason = f"the ELF file is for machine {elf.header.machine} and has no section {FATBIN_SECTION}"
        raise source.error(f"contains no AMDGPU code: {reason} or {OFFLOADING_SECTION}")


def _in_images(
    images: Iterator[OffloadImage], place: _Place, budget: Budget, depth: int
) -> Iterator[_Found]:
    """The contents of LLVM's offload binaries: code objects, or files that contain some."""
    source = place.source
    for image in images:
        code = code_at(source, image.offset) if image.form is None else None
        target_id = image.target_id if code is None else code.target_id
        uri = place.uri(image.offset, image.size)
        beginning = source.data[image.offset : image.offset + min(image.size, 24)]
        form = image.form or ("LLVM bitcode" if beginning[:4] in _BITCODE else None)
        if form is not None and image.triple.startswith("amdgcn"):
            name = f"{image.id} ({form}, which must first be compiled by a linker)"
            yield _Found(Entry(0, name, None, image.size, uri, False), image.offset)
        elif _is_container(beginning):
            yield from _within(place, image.offset, image.size, image.id, budget, depth)
        else:
            yield _Found(Entry(0, image.id, target_id, image.size, uri, False), image.offset)


def _in_archive(place: _Place, budget: Budget, depth: int) -> Iterator[_Found]:
    """The contents of an archive's members; members without code of this kind are skipped."""
    source, empty = place.source, True
    for member in iter_members(source):
        beginning = source.data[member.offset : member.offset + min(member.size, 24)]
        if beginning[:4] in _BITCODE:
            name = f"{member.name} (LLVM bitcode, which must first be compiled by a linker)"
            yield _Found(Entry(0, name, None, member.size, place.uri(member.offset, member.size), False), member.offset)
            empty = False
        elif _is_container(beginning) or is_elf(beginning):
            for found in _within(place, member.offset, member.size, member.name, budget, depth, optional=True):
                title = member.name if found.entry.member is None else f"{member.name}: {found.entry.member}"
                yield replace(found, entry=replace(found.entry, member=title))
                empty = False
    if empty:
        raise source.error("contains no AMDGPU code: no member of the archive has any")


def _is_container(beginning: bytes | bytearray) -> bool:
    return is_bundle(beginning) or is_offload_binary(beginning) or is_archive(beginning)


def _within(
    place: _Place, offset: int, size: int, name: str, budget: Budget, depth: int, optional: bool = False
) -> Iterator[_Found]:
    """The contents of a file within the place; offsets are relative to the place. Raises `CodeObjectError`.

    ``optional``: a host object file without sections for device code has no contents.
    """
    source = place.source
    if depth >= _DEEPEST:
        raise source.error(f"containers are nested more than {_DEEPEST} deep", section=name, offset=offset)
    if size > MAX_CODE_SIZE:
        reason = f"the contained file has {size} bytes; the limit is {MAX_CODE_SIZE}"
        raise source.error(reason, section=name, offset=offset)
    inner = Source(f"{source.name} ({name})", source.bytes_at(offset, size, name))
    if optional and is_elf(inner.data):
        elf = Elf(inner)
        if elf.header.machine != EM_AMDGPU and not elf.sections.keys() & {FATBIN_SECTION, OFFLOADING_SECTION}:
            return
    for found in _holdings(_Place(inner, place.file, place.base + offset, False, place.process), budget, depth + 1):
        if found.bundle is not None:
            yield replace(found, bundle=found.bundle + offset)
        else:
            yield replace(found, offset=found.offset + offset)


def _in_bundles(bundles: Iterator[Bundle], place: _Place) -> Iterator[_Found]:
    for bundle in bundles:
        for item in bundle.entries:
            where = (bundle.offset, bundle.size) if bundle.compressed else (item.offset, item.size)
            entry = Entry(0, item.id, item.target_id, item.size, place.uri(*where), bundle.compressed)
            yield _Found(entry, item.offset, bundle.offset if bundle.compressed else None)
        del bundle


def _request(target_id: TargetId | str | None) -> TargetId | None:
    return TargetId.parse(target_id) if isinstance(target_id, str) else target_id


def _fitting(found: list[_Found], request: TargetId | None) -> list[_Found]:
    """The code objects that match a request best; without a request, all."""
    ranked = []
    for item in found:
        target_id = item.entry.target_id
        if target_id is None or not item.entry.is_code_object:
            continue
        if request is None:
            ranked.append(((True, 0), item))
        elif target_id.runs_on(request):
            ranked.append((target_id.closeness(request), item))
    best = max((rank for rank, _ in ranked), default=None)
    return [item for rank, item in ranked if rank == best]


def _choose(name: str, found: list[_Found], request: TargetId | None) -> _Found:
    fitting = _fitting(found, request)
    if not fitting:
        raise _nothing_fits(name, found, request)
    if len(fitting) > 1:
        if request is None:
            reason = "the file contains several code objects; choose one by its target id or URI"
        else:
            reason = f"several code objects can run on {request}; choose one by its URI or a more specific target id"
        raise ChoiceError(name, reason, [str(item.entry) for item in fitting])
    return fitting[0]


def _nothing_fits(name: str, found: list[_Found], request: TargetId | None) -> ChoiceError:
    reason = "there is no AMDGPU code object" if request is None else f"no code object can run on {request}"
    return ChoiceError(name, reason, [str(item.entry) for item in found])
