"""Names in a function's text that cannot be command-line macros: names of the language, and names that source texts or
debug information declare. A macro with such a name would have broken the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final

from rocdbg.debugger.program.opencl_kernels import is_library_function
from rocdbg.debugger.program.source_text.source_tokens import Conditions, directives_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TYPE_WORDS: Final = _words(
    "void bool char short int long float double signed unsigned auto wchar_t char8_t char16_t char32_t _Bool half "
    "uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t ssize_t int8_t int16_t int32_t int64_t uint8_t "
    "uint16_t uint32_t uint64_t intmax_t uintmax_t nullptr_t __half __half2 _Float16 __bf16 __int128"
)
_WORDS: Final = _TYPE_WORDS | _words(
    "alignas alignof and and_eq asm atomic bitand bitor break case catch class compl concept const consteval constexpr "
    "constinit const_cast continue co_await co_return co_yield decltype default delete do dynamic_cast else enum "
    "explicit export extern false final for friend goto if inline mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq override private protected public register reinterpret_cast requires restrict return sizeof "
    "static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "typeof union using virtual volatile while xor xor_eq NULL"
)
_OPENCL_WORDS: Final = _words(
    "kernel global local constant generic read_only write_only read_write uniform pipe event_t queue_t sampler_t "
    "image1d_t image1d_array_t image1d_buffer_t image2d_t image2d_array_t image3d_t reserve_id_t ndrange_t clk_event_t "
    "mem_fence barrier prefetch wait_group_events cl_mem_fence_flags memory_order memory_scope memory_order_relaxed "
    "memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst memory_scope_work_item "
    "memory_scope_work_group memory_scope_device memory_scope_all_svm_devices atomic_int atomic_uint atomic_long "
    "atomic_ulong atomic_float atomic_flag"
)
_HEADER_WORDS: Final = _words(
    "std threadIdx blockIdx blockDim gridDim warpSize dim3 hipThreadIdx_x hipThreadIdx_y hipThreadIdx_z hipBlockIdx_x "
    "hipBlockIdx_y hipBlockIdx_z hipBlockDim_x hipBlockDim_y hipBlockDim_z hipGridDim_x hipGridDim_y hipGridDim_z "
    "printf assert abort malloc free memcpy memset memmove min max abs labs llabs fabs fabsf sqrt sqrtf rsqrt rsqrtf "
    "cbrt cbrtf exp expf exp2 exp2f expm1 expm1f log logf log2 log2f log10 log10f log1p log1pf pow powf sin sinf cos "
    "cosf tan tanf asin asinf acos acosf atan atanf atan2 atan2f sinh sinhf cosh coshf tanh tanhf erf erff erfc erfcf "
    "floor floorf ceil ceilf round roundf rint rintf trunc truncf nearbyint nearbyintf fma fmaf fmin fminf fmax fmaxf "
    "fmod fmodf hypot hypotf ldexp ldexpf frexp frexpf copysign copysignf isnan isinf isfinite signbit clock clock64 "
    "wall_clock64"
)
"""Indispensable names that language headers declare; most other such names are in debug information."""
_HEADER_NAMES: Final = re.compile(r"(?:make_\w+[1-4]|atomic[A-Z]\w*|h?(?:float|half)2\w*|(?:u?int|ll|float)2\w+)")
_VECTOR: Final = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double|half)(?:1|2|3|4|8|16)")
_COMPONENTS: Final = re.compile(r"[xyzw]{1,4}|[rgba]{1,4}|[sS][0-9a-fA-F]{1,16}|lo|hi|even|odd")
_RESERVED: Final = re.compile(r"__\w+|_[A-Z]\w*")
_QUALIFIERS_BEFORE = re.compile(r"(?:[*&\s]|(?<!\w)(?:const|restrict|__restrict__|__restrict))*$")
_LAST_WORD = re.compile(r"[A-Za-z_]\w*$")
_NAMES_BEFORE = re.compile(r"(?:^|[;{}:])\s*((?:(?:const|static|mutable|unsigned|signed|struct)\s+)*)([A-Za-z_]\w*)\b"
                           r"(?:\s+[\w\s,*\[\]:]*|\s*\*[\w\s,*\[\]:]*),\s*\**\s*$")
_TAGS = (
    r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?|namespace|goto)\s+{0}\b",
    r"\busing\s+{0}\s*=",
    r"\btypename\s+{0}\s*[,>=]",
    r"\btypedef\b[^;{{}}]*\b{0}\s*(?:\[[^\]]*\]\s*|\)\s*\([^;]*|__attribute__[^;]*)?;",
    r"\btypedef\s+(?:struct|union|enum)\b[^;{{}}]*{{[^{{}}]*}}\s*{0}\s*;",
    r"\benum\b[^;{{}}()]*{{(?:[^{{}}]*[,{{\s])?{0}\s*[,=}}]",
)
_MOST_PLACES: Final = 200
"""How many occurrences of a name are examined to find its declaration."""


class KnownText:
    """The part of a text that is certainly compiled, without comments, directives, strings and conditional code.

    ``code`` keeps its lines; ``conditions`` are the expressions of ``#if`` that were evaluated.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _conditions(self) -> Conditions:
        return directives_of(self._text)

    @property
    def code(self) -> str:
        """The code that is compiled."""
        return self._conditions.code

    @property
    def conditions(self) -> list[str]:
        """The expressions of ``#if`` that are outside other conditions."""
        return self._conditions.evaluated

    def mentions(self, name: str) -> bool:
        """Whether a name may occur in the text."""
        return name in self._text

    def has(self, pattern: str) -> bool:
        """Whether a pattern is found in the code."""
        return re.search(pattern, self.code) is not None

    def declares(self, name: str, is_type: Callable[[str], bool]) -> bool:
        """Whether the text declares a name; ``is_type`` decides whether the word before it is a type."""
        escaped = re.escape(name)
        if any(self.has(pattern.format(escaped)) for pattern in _TAGS):
            return True
        code = self.code
        for count, match in enumerate(re.finditer(rf"(?<![\w.]){escaped}\s*([(=;,)\[{{:>])", code)):
            if count >= _MOST_PLACES:
                break
            start = max(code.rfind("\n", 0, max(match.start() - 200, 0)), 0)
            before = code[start : match.start()]
            head = before[: _QUALIFIERS_BEFORE.search(before).start()]  # type: ignore[union-attr]
            word = _LAST_WORD.search(head)
            if word is not None and is_type(word[0]):
                return True
            # the name may be one of several in a declaration
            several = _NAMES_BEFORE.search(before) if before.rstrip("* \t\n").endswith(",") else None
            if several is not None and match[1] in ";,=[:" and (several[1] or is_type(several[2])):
                return True
        return False


class KnownNames:
    """Decides which names are known. ``texts`` holds the known texts of a unit, by path; ``is_declared`` queries debug
    information; ``has_headers``: the unit includes headers of the language.
    """

    def __init__(
        self, texts: Mapping[str, KnownText], is_cxx: bool, has_headers: bool, is_declared: Callable[[str], bool],
        is_type: Callable[[str], bool],
    ) -> None:
        self._texts = texts
        self._is_cxx = is_cxx
        self._has_headers = has_headers
        self._is_declared = is_declared
        self._is_dwarf_type = is_type
        self._known: dict[str, bool] = {}
        self._types: dict[str, bool] = {}

    def is_known(self, name: str, *, is_member: bool = False) -> bool:
        """Whether a name is certainly not that of a macro; ``is_member``: it follows a dot or an arrow."""
        if is_member and _COMPONENTS.fullmatch(name) is not None:
            return True
        if name not in self._known:
            self._known[name] = self._is_of_language(name) or self._is_declared(name) or any(
                text.mentions(name) and text.declares(name, self.is_type) for text in self._texts.values()
            )
        return self._known[name]

    def _is_of_language(self, name: str) -> bool:
        if name in _WORDS or name.startswith("__builtin_") or _VECTOR.fullmatch(name) is not None:
            return True
        if not self._is_cxx:
            return name in _OPENCL_WORDS or is_library_function(name) or _RESERVED.fullmatch(name) is not None
        # A program may not define reserved names, but without headers only the program can have defined them.
        return _RESERVED.fullmatch(name) is not None or (
            self._has_headers and (name in _HEADER_WORDS or _HEADER_NAMES.fullmatch(name) is not None)
        )

    def is_type(self, word: str) -> bool:
        """Whether a word is the name of a type."""
        if word not in self._types:
            self._types[word] = False  # the answer to a recursive query
            try:
                self._types[word] = word in _TYPE_WORDS or _VECTOR.fullmatch(word) is not None or (
                    word not in _WORDS and (self._is_dwarf_type(word) or any(
                        text.mentions(word) and any(text.has(pattern.format(re.escape(word))) for pattern in _TAGS[:-1])
                        for text in self._texts.values()
                    ))
                )
            except KeyboardInterrupt:
                del self._types[word]
                raise
        return self._types[word]
