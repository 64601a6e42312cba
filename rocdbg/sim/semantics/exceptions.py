"""Determines which arithmetic exceptions an instruction raises, in which lanes.

Blocks are translated with this only if it could be noticed (`Context.exceptions`): a wave has exceptions enabled, or
code reads the sticky bits. The rules follow the ISA documents; where these leave a rule open (what a NaN hides, when
underflow is detected, what output modifiers do) they follow measurements on gfx1201:

* clamp hides all exceptions;
* an operation is invalid if a source is a signaling NaN, or if the result is a NaN although no source is;
* a subnormal source counts if MODE does not flush it, no operation is invalid and no source is a NaN;
* overflow implies inexact; underflow is tininess after rounding of an inexact result;
* omod hides inexact and underflow;
* v_rcp_iflag raises only the integer division by zero.

Not modelled: dot and matrix instructions, and conversions to and from formats of 8 bits or less, do not raise any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocdbg.sim.core.arithmetic_exceptions import CAUSES, ENABLED_SHIFT, Cause
from rocdbg.sim.core.builder import F16, F32, F64, I1, I32, INTEGER, Op, Type, Value
from rocdbg.sim.core.layout import EXCEPTION_MASKS, Status
from rocdbg.sim.semantics import floats

if TYPE_CHECKING:
    from rocdbg.sim.semantics.access import Access


_QUIET = re.compile(
    r"v_cmpx?_class_|v_cube|v_trig_preop|v_mfma_|v_smfmac_|v_wmma_|v_swmmac_|v_dot\d|v_interp|v_cvt_(scalef32|sr)|"
    r"v_cvt.*(fp8|bf8)|v_s?_?mov|v_cndmask|v_frexp|v_div_scale"
)
"""Instructions that do not raise exceptions, or only assist those that do (v_div_scale)."""
_TO_INTEGER = re.compile(r"[vs]_cvt_(?:pk_|nearest_|floor_|flr_|rpi_)?([iu])(16|32)_f(?:16|32|64)$")
_COMPARE = re.compile(r"[vs]_cmps?x?_")
_CONTINUOUS = re.compile(r"v_(?:s_)?(rcp_iflag|rcp|rsq|sqrt|log|exp|sin|cos)(?:_legacy|_clamp)?_f(?:16|32|64)$")


class Watch:
    """Collects the exceptions of one instruction while its semantic runs."""

    def __init__(self, access: Access) -> None:
        self._i = access
        self._causes: dict[Cause, Value] = {}
        self._sources: list[Value] = []
        self._results: list[Value] = []
        self._nan: Value | None = None
        self._silent = access.clamp or bool(_QUIET.match(access.name)) or "rcp_iflag" in access.name
        self._scaled = access.modifier("omod") != 0
        # Measured on gfx1100: output modifiers also hide overflow, even where they have no effect, and DX10_CLAMP
        # without IEEE hides signaling NaNs.
        self._overflows = access.generation >= 12 or not self._scaled
        self._signals = access.generation >= 12 or access.mode.ieee or not access.mode.dx10_clamp

    def _raise(self, cause: Cause, where: Value) -> None:
        known = self._causes.get(cause)
        self._causes[cause] = where if known is None else known | where

    def _const(self, bit: bool) -> Value:
        return self._i.const(int(bit), I1)

    # -- events --------------------

    def source(self, value: Value, flushed: bool) -> None:
        """Note that a float source is read; ``flushed``: MODE (or the instruction) treats subnormals as zeros."""
        if self._silent and "rcp_iflag" not in self._i.name:
            return
        self._sources.append(floats.flush(value) if flushed else value)
        self._raise(Cause.INVALID, floats.is_signaling(value) if self._signals else self._const(False))
        nan = value.is_nan()
        self._nan = nan if self._nan is None else self._nan | nan
        if not flushed:
            self._raise(Cause.DENORMAL, floats.is_subnormal(value))

    def refuse_nans(self) -> None:
        """Treat every NaN among the sources as an invalid operation."""
        for value in self._sources:
            self._raise(Cause.INVALID, value.is_nan())

    def rounding(self, op: Op, type: Type, args: Sequence[Value], result: Value) -> None:
        """Note that a primitive of `builder.ROUNDING` gave ``result``."""
        if self._silent or not type.is_float:
            return
        numbers, nan = self._const(True), self._const(False)
        for arg in args:
            if arg.type.is_float:
                numbers = numbers & ~floats.is_infinite(arg) & ~arg.is_nan()
                nan = nan | arg.is_nan()
        self._raise(Cause.INVALID, result.is_nan() & ~nan)
        if op in (Op.FDIV, Op.SQRT):
            return
        builder = result.builder
        up, down = (builder.emit_directed(op, type, args, mode) for mode in (1, 2))
        tiny = self._tiny(op, type, args, result)
        self._rounded(result, numbers, up.ne(down), tiny, self._limited(op, type, args, result))

    def result(self, value: Value) -> None:
        """Note a float result, before output modifiers."""
        if not self._silent:
            self._results.append(value)

    def scaled(self, before: Value, after: Value) -> None:
        """Note that omod was applied."""
        if not self._silent and self._overflows:
            finite = ~floats.is_infinite(before) & ~before.is_nan()
            self._raise(Cause.OVERFLOW, finite & floats.is_infinite(after))

    def flushed(self, value: Value) -> None:
        """Note that MODE makes ``value`` zero if it is subnormal."""
        if not self._silent and not self._scaled:
            self._raise(Cause.UNDERFLOW, floats.is_subnormal(value))
            self._raise(Cause.INEXACT, floats.is_subnormal(value))

    # -- rules --------------------

    def _limited(self, op: Op, type: Type, args: Sequence[Value], result: Value) -> Value | None:
        """Whether the result is the largest number only because of MODE's rounding, which is an overflow."""
        mode = self._i.mode.round32 if type is F32 else self._i.mode.round16_64
        if not mode or op not in (Op.FADD, Op.FSUB, Op.FMUL, Op.FMA, Op.FPTRUNC):
            return None
        # For half the operands, the next larger number can be represented.
        halves = [args[0] * 0.5, *args[1:]]
        if op in (Op.FADD, Op.FSUB, Op.FMA):
            halves[-1] = args[-1] * 0.5
        half = result.builder.emit_directed(op, type, halves, 3)
        form = floats.FORMATS[type]
        return floats.magnitude(result).eq(form.largest) & half.fabs().fge(2.0**form.bias)

    def _rounded(
        self, result: Value, numbers: Value, inexact: Value, tiny: Value, limited: Value | None = None
    ) -> None:
        overflow = floats.is_infinite(result)
        overflow = numbers & (overflow if limited is None else overflow | limited)
        if self._overflows:
            self._raise(Cause.OVERFLOW, overflow)
        if not self._scaled:
            self._raise(Cause.INEXACT, numbers & (inexact | overflow))
            self._raise(Cause.UNDERFLOW, numbers & inexact & tiny)

    def _tiny(self, op: Op, type: Type, args: Sequence[Value], result: Value) -> Value:
        """Whether the result is below the normal numbers after rounding to their precision."""
        form = floats.FORMATS[type]
        below = floats.magnitude(result).ult(form.smallest_normal)
        if type is F64:
            return below
        # Rounding a subnormal to its coarser last place may have given the smallest normal number, even from farther
        # below it.
        wide = [a.fpext(F64) if a.type in (F16, F32) else a for a in args]
        exact = wide[0] if op is Op.FPTRUNC else result.builder.emit(op, F64, wide)
        limit = 2.0 ** (1 - form.bias) - 2.0 ** (-form.bias - form.fraction_bits - 1)
        return below | exact.fabs().flt(limit)

    def _continuous(self, function: str) -> None:
        """Apply the rules of reciprocals, roots, exponentials, logarithms, sines and cosines."""
        x, r = self._sources[0], self._results[0]
        form = floats.format_of(x)
        number = ~x.is_nan() & ~floats.is_infinite(x)
        zero = floats.is_zero(x)
        if function in ("rcp", "rsq", "log"):
            self._raise(Cause.DIVIDE_BY_ZERO, zero)
            number = number & ~zero
        power_of_two = (x.bits() & form.fraction_mask).eq(0)
        match function:
            case "rcp" | "log":
                exact = power_of_two
            case "rsq":
                exact = power_of_two & ((floats.exponent_field(x) ^ form.bias) & 1).eq(0)
            case "sqrt":
                exact = r.fma(r, -x).eq(0.0)
            case "exp":
                exact = x.rint().eq(x)
            case _:
                quarters = x * 4.0
                exact = quarters.rint().eq(quarters)
        tiny = floats.magnitude(r).ult(form.smallest_normal)
        self._rounded(r, number & ~r.is_nan(), ~exact, tiny)

    def _div_fixup(self) -> None:
        quotient, denominator, numerator = self._sources
        form = floats.format_of(quotient)
        zero, infinite = floats.is_zero, floats.is_infinite
        plain = ~zero(denominator) & ~infinite(denominator) & ~zero(numerator) & ~infinite(numerator)
        plain = plain & ~denominator.is_nan() & ~numerator.is_nan()
        self._raise(
            Cause.DIVIDE_BY_ZERO,
            zero(denominator) & ~zero(numerator) & ~infinite(numerator) & ~numerator.is_nan(),
        )
        far = self._const(False)
        if form.bits != 16:
            exponents = [floats.exponent_field(v).trunc(I32) for v in (numerator, denominator)]
            far = (exponents[0] - exponents[1]).slt(-form.bias - form.fraction_bits)
        overflow = plain & ~far & floats.magnitude(quotient).uge(form.infinity)
        if self._overflows:
            self._raise(Cause.OVERFLOW, overflow)
        if not self._scaled:
            self._raise(Cause.UNDERFLOW, plain & far)
            self._raise(Cause.INEXACT, plain & far | overflow)

    def _to_integer(self, letter: str, bits: int) -> None:
        low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if letter == "i" else (0.0, 2.0**bits)
        for x in self._sources:
            wide = floats.convert(x, F64)
            whole = wide.ftrunc()
            outside = x.is_nan() | whole.flt(low) | whole.fge(high)
            self._raise(Cause.INVALID, outside)
            self._raise(Cause.INEXACT, ~outside & whole.ne(wide))

    def finish(self) -> None:
        """Set the sticky bits of the causes, and leave the block if one of them is enabled."""
        name = self._i.name
        if "rcp_iflag" in name:
            self._causes = {Cause.INTEGER_DIVIDE_BY_ZERO: floats.is_zero(self._sources[0])}
        elif self._silent:
            return
        elif match := _CONTINUOUS.match(name):
            self._continuous(match[1])
        elif name.startswith("v_div_fixup"):
            self._div_fixup()
        elif match := _TO_INTEGER.match(name):
            self._to_integer(match[1], int(match[2]))
        if not self._causes:
            return
        if self._results and self._nan is not None and len(self._results) == 1:
            self._raise(Cause.INVALID, self._results[0].is_nan() & ~self._nan)
        self._hide()
        self._deliver()

    def _hide(self) -> None:
        """Remove the exceptions that invalid operations and NaNs hide."""
        denormal = self._causes.get(Cause.DENORMAL)
        if denormal is None:
            return
        hidden = self._causes[Cause.INVALID]
        if self._nan is not None:
            hidden = hidden | self._nan
        if _COMPARE.match(self._i.name):
            for value in self._sources:
                hidden = hidden | floats.is_infinite(value)
        self._causes[Cause.DENORMAL] = denormal & ~hidden

    def _deliver(self) -> None:
        i, b = self._i, self._i.b
        vector = any(not where.uniform for where in self._causes.values()) or i.name.startswith("v_")
        raised: list[tuple[Cause, Value]] = []
        if vector and not i.name.startswith("v_s_"):
            for cause, where in self._causes.items():
                b.write_lane_mask(EXCEPTION_MASKS + 2 * cause, where)
            b.scalar()
            size = i.wave_size // 32
            for cause in self._causes:
                raised.append((cause, b.read_sgpr(EXCEPTION_MASKS + 2 * cause, size).ne(0)))
        else:
            none = i.const(0, INTEGER[i.wave_size])
            for cause, where in self._causes.items():
                b.write_sgpr(EXCEPTION_MASKS + 2 * cause, none)
                raised.append((cause, where))
        flags = i.const(0)
        for cause, bit in raised:
            flags = flags | bit.zext(I32).shl(int(cause))
        b.write_field("trapsts", b.read_field("trapsts") | flags)
        separate = i.generation >= 12
        enabled = b.read_field("trap_ctrl") if separate else b.read_field("mode").lshr(ENABLED_SHIFT)
        trapping = flags & enabled & CAUSES
        b.write_field("exception", trapping)
        b.write_field("exception_pc", b.pc())
        b.leave_if(trapping.ne(0), Status.EXCEPTION)


__all__ = ["Watch"]
