"""C's printf conversions, applied to bits that a kernel has sent. The result equals glibc's byte for byte.

OpenCL C 6.15.14.3 adds vectors (``%v4hlf``) and the length ``hl``.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

MAX_WIDTH = 65_536
"""Limit of the columns and digits of one conversion; larger requests are reduced to this."""

MAX_TEXT = 16 << 20
"""How many bytes the text of one printf may have in addition to those that the kernel sent, because fifteen bytes can
request `MAX_WIDTH` printed characters.
"""
_CUT = b"\nrocdbg: the rest of this printf is not printed, because its widths make it too long.\n"

# The quantifiers are possessive, because zeros can be flags or part of a width: for a format that is all zeros,
# backtracking would take time proportional to the square of its length.
_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0']*+)(?P<width>\*|[0-9]*+)(?:\.(?P<precision>\*|[0-9]*+))?"
    rb"(?P<vector>v(?:16|2|3|4|8))?(?P<length>hh|hl|h|ll|l|j|z|t|L|q)?(?P<kind>[diouxXcsfFeEgGaApn%])",
    re.DOTALL,
)
_BITS = {"hh": 8, "h": 16, "": 32, "hl": 32, "l": 64, "ll": 64, "j": 64, "z": 64, "t": 64, "L": 64, "q": 64}


class Conversion(Struct, frozen=True):
    """One conversion specification. Width and precision: a number, ``None`` if not given, ``"*"`` if an argument gives
    it."""

    flags: str
    width: int | str | None
    precision: int | str | None
    vector: int
    """Components, 0 for a scalar."""
    length: str
    kind: str
    """The letter."""

    @property
    def stars(self) -> int:
        """How many arguments give width and precision."""
        return (self.width == "*") + (self.precision == "*")

    def given(self, numbers: list[int]) -> Conversion:
        """The same conversion with these arguments (ints as C passes them) in place of the stars."""
        flags, width, precision = self.flags, self.width, self.precision
        rest = iter(numbers)
        if width == "*":
            number = _signed(next(rest), 32)
            flags, width = (flags + "-", -number) if number < 0 else (flags, number)
        if precision == "*":
            number = _signed(next(rest), 32)
            precision = None if number < 0 else number  # C: a negative precision counts as omitted
        return Conversion(flags, width, precision, self.vector, self.length, self.kind)

    def integer(self, bits: int) -> bytes:
        """Print an integer, a character or a pointer from 64 bits, of which the conversion's length says how many are
        used. Prints nothing for ``%n``, whose argument is a pointer in the kernel's memory.
        """
        if self.kind == "c":
            return self._pad(bytes((bits & 0xFF,)))
        if self.kind == "n":
            return b""
        if self.kind == "p":
            value = bits & (1 << 64) - 1
            return self._pad(f"{value:#x}".encode() if value else b"(nil)")
        size = _BITS[self.length]
        signed = self.kind in "di"
        number = _signed(bits, size) if signed else bits & (1 << size) - 1
        form = {"d": "d", "i": "d", "u": "d", "o": "o", "x": "x", "X": "X"}[self.kind]
        digits = format(abs(number), form)
        precision = self._digits
        if precision is not None:
            digits = digits.zfill(precision) if number or precision else ""
        if "#" in self.flags and self.kind == "o" and not digits.startswith("0"):
            digits = "0" + digits
        prefix = "0" + self.kind if "#" in self.flags and self.kind in "xX" and number else ""
        sign = self._sign(number < 0) if signed else ""
        return self._number(sign + prefix, digits, zeros=precision is None)

    def floating(self, value: float) -> bytes:
        """Print a double; ``value`` may be anything, including infinities and NaNs with their sign."""
        bits = int.from_bytes(struct.pack("<d", value), "little")
        sign = self._sign(bool(bits >> 63))
        upper = self.kind.isupper()
        if value != value or value in (float("inf"), float("-inf")):
            word = "nan" if value != value else "inf"
            return self._number(sign, word.upper() if upper else word, zeros=False)
        number = abs(value)
        precision = self._digits
        if self.kind in "aA":
            text = _hexadecimal(number, precision, "#" in self.flags)
            if upper:
                text = text.upper()
            return self._number(sign + text[:2], text[2:], zeros=True)
        spec = f"%{'#' if '#' in self.flags else ''}.{6 if precision is None else precision}{self.kind}"
        return self._number(sign, spec % number, zeros=True)

    def string(self, text: bytes) -> bytes:
        """A string without its NUL."""
        precision = self._digits
        return self._pad(text if precision is None else text[:precision])

    @property
    def _digits(self) -> int | None:
        return min(self.precision, MAX_WIDTH) if isinstance(self.precision, int) else None

    def _sign(self, negative: bool) -> str:
        return "-" if negative else "+" if "+" in self.flags else " " if " " in self.flags else ""

    def _number(self, prefix: str, digits: str, zeros: bool) -> bytes:
        """Sign and prefix, then digits; the flag ``0`` inserts zeros between them if ``zeros`` permits it."""
        if zeros and "0" in self.flags and "-" not in self.flags:
            digits = digits.zfill(self._columns - len(prefix))
        return self._pad((prefix + digits).encode())

    @property
    def _columns(self) -> int:
        return min(self.width, MAX_WIDTH) if isinstance(self.width, int) else 0

    def _pad(self, text: bytes) -> bytes:
        return text.ljust(self._columns) if "-" in self.flags else text.rjust(self._columns)


def pieces(template: bytes) -> tuple[bytes | Conversion, ...]:
    """Split a format string into literal text and conversions.

    ``%%`` is text. An invalid conversion (undefined in C) is text, as in glibc.
    """
    return _known_pieces(template) if len(template) <= _MOST_KEPT else tuple(_pieces(template))


_MOST_KEPT = 4096
"""Bytes of the longest format strings that are kept with their pieces: kernels can make others of many megabytes."""


@lru_cache(maxsize=256)
def _known_pieces(template: bytes) -> tuple[bytes | Conversion, ...]:
    return tuple(_pieces(template))


def cut(text: bytearray, sent: int) -> bool:
    """Whether the text for ``sent`` bytes is too long. If it is, append a note that says so."""
    if len(text) <= sent + MAX_TEXT:
        return False
    text += _CUT
    return True


def _pieces(template: bytes) -> Iterator[bytes | Conversion]:
    text = bytearray()
    at = 0
    for match in _CONVERSION.finditer(template):
        text += template[at : match.start()]
        at = match.end()
        kind = match["kind"].decode()
        if kind == "%":
            text += b"%"
            continue
        if text:
            yield bytes(text)
            text.clear()
        yield Conversion(
            match["flags"].decode(), _number(match["width"] or None), _number(match["precision"]),
            int(match["vector"][1:]) if match["vector"] else 0, (match["length"] or b"").decode(), kind,
        )
    text += template[at:]
    if text:
        yield bytes(text)


def _number(text: bytes | None) -> int | str | None:
    if text is None:
        return None
    if text == b"*":
        return "*"
    return min(int(text[-20:] or b"0"), MAX_WIDTH) if len(text.lstrip(b"0")) <= 9 else MAX_WIDTH


def _signed(bits: int, size: int) -> int:
    value = bits & (1 << size) - 1
    return value - (1 << size) if value >> size - 1 else value


def _hexadecimal(number: float, precision: int | None, point: bool) -> str:
    """``%a`` of a number that is not negative."""
    bits = int.from_bytes(struct.pack("<d", number), "little")
    exponent, mantissa = bits >> 52 & 0x7FF, bits & (1 << 52) - 1
    lead = 1 if exponent else 0
    power = exponent - 1023 if exponent else -1022 if mantissa else 0
    whole = lead << 52 | mantissa
    if precision is not None and precision < 13:
        unit = 4 * (13 - precision)
        kept, rest = whole >> unit, whole & (1 << unit) - 1
        half = 1 << unit - 1
        kept += rest > half or (rest == half and kept & 1)  # to nearest, ties to even
        whole = kept << unit
    fraction = f"{whole & (1 << 52) - 1:013x}"
    fraction = fraction.rstrip("0") if precision is None else fraction[:precision].ljust(precision, "0")
    dot = "." if fraction or point else ""
    return f"0x{whole >> 52}{dot}{fraction}p{power:+d}"


__all__ = ["MAX_TEXT", "MAX_WIDTH", "Conversion", "cut", "pieces"]
