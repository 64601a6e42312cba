"""Makes text safe for a terminal: characters that would control it, or reorder its display, become octal escapes.

Names, paths, source lines and strings come from files and kernels, which are untrusted. A `Writer` passes everything
through `visible`; colours are added afterwards. Only the text of the user's own `echo`, `printf` format or `shell`
command bypasses it.
"""

from __future__ import annotations

import re

# C0 except tab and newline, DEL, and C1 (NEL, CSI); direction marks and overrides (UAX 9); line and paragraph
# separators; zero-width and other invisible format characters, tags; surrogates (undecodable bytes). The joiners
# U+200C and U+200D are kept: some scripts need them, and they only affect the shape of their neighbours.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def visible(text: str) -> str:
    r"""Return text without control sequences: ``ESC`` becomes ``\033``, as in strings that GDB prints.

    Tabs and newlines are kept. Control characters beyond ASCII are shown as their bytes in UTF-8 (``\302\205`` for
    NEL), invalid UTF-8 bytes as their own value.
    """
    return _UNSAFE.sub(_octal, text) if not text.isascii() or _UNSAFE.search(text) is not None else text


def visible_source(line: str) -> str:
    """Return a source line as `list` shows it: control characters as GDB's ``^[``, others as in `visible`."""
    return visible(_CONTROL.sub(lambda found: f"^{chr(ord(found[0]) ^ 0x40)}", line))


def one_line(text: str) -> str:
    r"""Return `visible` text on one line: newlines become ``\n``."""
    if text.isascii() and text.isprintable():
        return text
    return visible(text).replace("\n", "\\n")


def encodable(text: str, encoding: str) -> str:
    """Return text in which characters that ``encoding`` lacks are shown as their bytes in UTF-8."""
    try:
        text.encode(encoding)
    except UnicodeError:
        return "".join(char if _fits(char, encoding) else _bytes(char) for char in text)
    return text


def _fits(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeError:
        return False
    return True


def _octal(found: re.Match[str]) -> str:
    return _bytes(found[0])


def _bytes(char: str) -> str:
    # a surrogate that represents an undecodable byte is that byte; any other surrogate has three bytes
    code = ord(char)
    data = bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else char.encode("utf-8", "surrogatepass")
    return "".join(f"\\{byte:03o}" for byte in data)
