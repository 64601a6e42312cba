"""A Pygments lexer for the assembly of AMD GPUs, as LLVM's assembler reads it (AMDGPUOperandSyntax,
AMDGPUModifierSyntax): comments, directives, labels, instructions, registers, modifiers, macros and metadata.

Pygments finds it as ``amdgpu`` (an entry point of this package).
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, default, include, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

__all__ = ["AmdgpuLexer"]

_FLAGS = (
    "a16", "addr64", "bound_ctrl", "clamp", "compr", "d16", "da", "dlc", "done", "fi", "gds", "glc", "high", "idxen",
    "lds", "lwe", "mul", "div", "neg", "nt", "nv", "offen", "r128", "row_half_mirror", "row_mirror", "row_share",
    "sc0", "sc1", "scc", "slc", "stripe", "tfe", "unorm", "vm", "wave_rol", "wave_ror", "wave_shl", "wave_shr",
)
"""Modifiers without a value; those with a value are recognised by their colon."""
_FUNCTIONS = (
    "abs", "attr", "depctr", "expcnt", "export", "hwreg", "instid0", "instid1", "instskip", "lgkmcnt", "lit", "lit64",
    "neg", "sendmsg", "sext", "swizzle", "vmcnt", "vscnt", "loadcnt", "storecnt", "dscnt", "kmcnt", "samplecnt",
    "bvhcnt", "max", "or", "tbuffer",
)
_REGISTERS = (
    "exec", "exec_lo", "exec_hi", "execz", "vcc", "vcc_lo", "vcc_hi", "vccz", "m0", "scc", "null", "pc", "off",
    "flat_scratch", "flat_scratch_lo", "flat_scratch_hi", "xnack_mask", "xnack_mask_lo", "xnack_mask_hi",
    "tba", "tba_lo", "tba_hi", "tma", "tma_lo", "tma_hi", "lds_direct", "mode", "status", "trapsts", "sgpr_null",
)
_FAMILIES = (
    "s|v|ds|buffer|tbuffer|global|flat|scratch|image|exp|tensor|cluster|cooperative|async|lds|ttrace|dup"
)
_NAME = r"[A-Za-z_.$\\][\w.$@\\]*(?:\\\(\)[\w.$@\\]*)*"
_END_OF_METADATA = r"\.end_amdgpu_metadata\b|\.end_amd_amdgpu_(?:hsa|pal)_metadata\b|\.end_amdgpu_pal_metadata\b"


class AmdgpuLexer(RegexLexer):
    """Lexes assembly of AMD GPUs. Any text can be split into tokens; joined, the tokens give the text again."""

    name = "AMDGPU assembly"
    aliases: ClassVar[list[str]] = ["amdgpu", "amdgcn", "gcnasm"]
    filenames: ClassVar[list[str]] = ["*.s", "*.S", "*.gcn", "*.amdgcn"]
    mimetypes: ClassVar[list[str]] = ["text/x-amdgpu-asm"]
    url = "https://llvm.org/docs/AMDGPUUsage.html"
    priority = 0.0  # most files with these extensions are for other machines: `analyse_text` decides
    flags = re.MULTILINE

    tokens: ClassVar[dict[str, Any]] = {
        "comments": [
            (r"//[^\n]*", Comment.Single),
            (r";[^\n]*", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
        ],
        "comment": [
            (r"[^*]+", Comment.Multiline),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"\*", Comment.Multiline),
        ],
        # The beginning of a statement: at the start of a line, or after a label.
        "root": [
            (r"\n", Whitespace),
            (r"[^\S\n]+", Whitespace),
            include("comments"),
            (r"\#[^\n]*", Comment.Preproc),
            (rf"(?:{_NAME}|\d+)(?=[^\S\n]*:(?![:=]))", Name.Label),
            (r":", Punctuation),
            (r"\.(?:macro|purgem)(?=[^\S\n]+[\w.$])", Keyword, "macro name"),
            (r"\.(?:set|equ|equiv|eqv)(?=[^\S\n]+[A-Za-z_.$\\])", Keyword, "symbol name"),
            (r"[A-Za-z_.$][\w.$]*(?=[^\S\n]*=(?!=))", Name.Constant, "operands"),
            (r"\.(?:amdgpu_metadata|amd_amdgpu_(?:hsa|pal)_metadata|amdgpu_pal_metadata)\b", Keyword, "metadata"),
            (r"\.[A-Za-z_][\w.]*", Keyword, "operands"),
            (rf"(?:{_FAMILIES})_[\w\\@]+(?:\\\(\)[\w\\@]*)*|exp(?=[^\S\n])", Name.Function, "operands"),
            (_NAME, Name.Function.Magic, "operands"),  # the name of a macro
            default("operands"),
        ],
        "macro name": [
            (r"[^\S\n]+", Whitespace),
            (r"[\w.$]+", Name.Function, ("#pop", "operands")),
        ],
        "symbol name": [
            (r"[^\S\n]+", Whitespace),
            (r"[A-Za-z_.$\\][\w.$\\]*", Name.Constant, ("#pop", "operands")),
        ],
        "operands": [
            (r"\n", Whitespace, "#pop"),
            (r"[^\S\n]+", Whitespace),
            include("comments"),
            (r'"(?:[^"\\\n]|\\.)*"?', String.Double),
            (r"'(?:[^'\\\n]|\\.)'", String.Char),
            (r"0[xX][0-9a-fA-F]+", Number.Hex),
            (r"0[bB][01]+", Number.Bin),
            (r"(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+", Number.Float),
            (r"\d+[bf]\b", Name.Label),
            (r"\d+", Number.Integer),
            (r"(?:[sva]|acc|ttmp)\d+(?:\.[lh])?\b", Name.Variable),
            (r"(?:[sva]|acc|ttmp)(?=\[)", Name.Variable),
            (words(_REGISTERS, prefix=r"\b", suffix=r"\b(?!:)"), Name.Variable),
            (r"src_\w+", Name.Variable),
            (words(_FUNCTIONS, prefix=r"\b", suffix=r"(?=\()"), Name.Builtin),
            (r"[a-z_][a-z0-9_]*(?=:)(?!::)", Name.Attribute),
            (words(_FLAGS, prefix=r"\b", suffix=r"\b"), Name.Attribute),
            (r"\b(?:TH|SCOPE|MSG|GS_OP|HW_REG|SQ_SEL|BUF_(?:DATA|NUM)_FORMAT|UNUSED|SDWA)_\w+\b|\b(?:BYTE|WORD)_\d\b",
             Name.Constant),
            (r"\\(?:\(\)|@|\+|[A-Za-z_]\w*)", Name.Variable.Magic),  # macro parameters
            (r"[A-Za-z_.$][\w.$]*(?:@[\w@]+)?|@\w+", Name),
            (r"[-+*/%&|^~!<>=]+?", Operator),
            (r"[\[\](){},:]", Punctuation),
            (r".", Text),
        ],
        "metadata": [
            (rf"{_END_OF_METADATA}", Keyword, "#pop"),
            (r"\n", Whitespace),
            (r"[^\S\n]+", Whitespace),
            (r"\#[^\n]*", Comment.Single),
            (r"[.\w$-]+(?=[^\S\n]*:(?:\s|$))", Name.Tag),
            (r"'[^'\n]*'?|\"(?:[^\"\\\n]|\\.)*\"?", String),
            (r"(?:0[xX][0-9a-fA-F]+|\d+)\b", Number),
            (r"[\w.$-]+", Text),
            (r"[\[\]{}:,]", Punctuation),
            (r".", Text),
        ],
    }

    @staticmethod
    def analyse_text(text: str) -> float:
        """Return the confidence that a text is assembly of AMD GPUs."""
        if re.search(r"^\s*\.(?:amdgcn_target|amdhsa_kernel|amdgpu_metadata|amd_kernel_code_t|amdgpu_hsa_kernel)\b",
                     text, re.MULTILINE):
            return 1.0
        found = re.search(r"^\s*(?:[sv]|ds|buffer|global|flat|scratch)_[a-z]\w+(?:\s|$)", text, re.MULTILINE)
        return 0.8 if found is not None else 0.0
