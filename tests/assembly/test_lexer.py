"""The Pygments lexer for AMDGPU assembly: the kinds of tokens, and that no text is lost."""

from __future__ import annotations

import random
from importlib.metadata import entry_points

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String, Token

from rocdbg.cli.amdgpu_lexer import AmdgpuLexer
from rocdbg.cli.highlight import shown_lines
from tests.assembly.kernels import CALLS, LOOP, TAIL

# A line, and what its words are; what is left out is punctuation, blanks and plain names.
LINES = [
    ("; a // b", [("; a // b", Comment.Single)]),
    ("s_nop 0 // why", [("s_nop", Name.Function), ("0", Number.Integer), ("// why", Comment.Single)]),
    ("s_nop 0 /* a\nb */ ; c", [("s_nop", Name.Function), ("0", Number.Integer), ("/*", Comment.Multiline),
                                (" a\nb ", Comment.Multiline), ("*/", Comment.Multiline), ("; c", Comment.Single)]),
    ("#define X 1", [("#define X 1", Comment.Preproc)]),
    (".p2align 8", [(".p2align", Keyword), ("8", Number.Integer)]),
    (".set v_acc, 0x4", [(".set", Keyword), ("v_acc", Name.Constant), ("0x4", Number.Hex)]),
    ("s_cnt = 8", [("s_cnt", Name.Constant), ("=", Operator), ("8", Number.Integer)]),
    (".macro zero reg", [(".macro", Keyword), ("zero", Name.Function), ("reg", Name)]),
    ("zero v\\n", [("zero", Name.Function.Magic), ("v", Name), ("\\n", Name.Variable.Magic)]),
    ("loop_\\@: s_branch loop_\\@", [("loop_\\@", Name.Label), ("s_branch", Name.Function), ("loop_", Name),
                                     ("\\@", Name.Variable.Magic)]),
    ("1: s_cbranch_scc1 1b", [("1", Name.Label), ("s_cbranch_scc1", Name.Function), ("1b", Name.Label)]),
    (".Lend:", [(".Lend", Name.Label)]),
    ("v_mov_b32_e32 v[v_acc+1], 1.0", [("v_mov_b32_e32", Name.Function), ("v", Name.Variable), ("v_acc", Name),
                                       ("+", Operator), ("1", Number.Integer), ("1.0", Number.Float)]),
    ("buffer_load_dword v0, off, s[4:7], 0 offen offset:16 glc", [
        ("buffer_load_dword", Name.Function), ("v0", Name.Variable), ("off", Name.Variable), ("s", Name.Variable),
        ("4", Number.Integer), ("7", Number.Integer), ("0", Number.Integer), ("offen", Name.Attribute),
        ("offset", Name.Attribute), ("16", Number.Integer), ("glc", Name.Attribute)]),
    ("s_waitcnt vmcnt(0) & lgkmcnt(1)", [
        ("s_waitcnt", Name.Function), ("vmcnt", Name.Builtin), ("0", Number.Integer), ("&", Operator),
        ("lgkmcnt", Name.Builtin), ("1", Number.Integer)]),
    ("v_add_f32_dpp v0, v1, -v2 row_shl:1 row_mask:0xf", [
        ("v_add_f32_dpp", Name.Function), ("v0", Name.Variable), ("v1", Name.Variable), ("-", Operator),
        ("v2", Name.Variable), ("row_shl", Name.Attribute), ("1", Number.Integer), ("row_mask", Name.Attribute),
        ("0xf", Number.Hex)]),
    ("s_mov_b64 exec, vcc", [("s_mov_b64", Name.Function), ("exec", Name.Variable), ("vcc", Name.Variable)]),
    ("global_load_b32 v0, v1, s[2:3] th:TH_LOAD_NT scope:SCOPE_DEV", [
        ("global_load_b32", Name.Function), ("v0", Name.Variable), ("v1", Name.Variable), ("s", Name.Variable),
        ("2", Number.Integer), ("3", Number.Integer), ("th", Name.Attribute), ("TH_LOAD_NT", Name.Constant),
        ("scope", Name.Attribute), ("SCOPE_DEV", Name.Constant)]),
    ('.asciz "a\\"b"', [(".asciz", Keyword), ('"a\\"b"', String.Double)]),
    ("s_add_u32 s0, s0, f@rel32@lo+4", [("s_add_u32", Name.Function), ("s0", Name.Variable), ("s0", Name.Variable),
                                        ("f@rel32@lo", Name), ("+", Operator), ("4", Number.Integer)]),
    (".amdgpu_metadata\namdhsa.version: [1, 2]\n.end_amdgpu_metadata\ns_nop 0", [
        (".amdgpu_metadata", Keyword), ("amdhsa.version", Name.Tag), ("1", Number), ("2", Number),
        (".end_amdgpu_metadata", Keyword), ("s_nop", Name.Function), ("0", Number.Integer)]),
]
PIECES = [
    *"\n\t ;:\\@\"'()[]{}.,#/*=+-&x0v", "//", "/*", "*/", '"', ".macro", ".set a, ", ".amdgpu_metadata\n",
    "\n.end_amdgpu_metadata", "v[0:1]", "s_nop", "1b", "L:", "\\()", "\r\n", "\0", "\u00e9", "\ud7ff", "0x", "1e",
    "exec",
]


@pytest.mark.parametrize(("text", "expected"), LINES, ids=[line for line, _ in LINES])
def test_words(text: str, expected: list[tuple[str, object]]) -> None:
    silent = (Token.Text, Token.Punctuation)
    found = [(word, kind) for _, kind, word in AmdgpuLexer().get_tokens_unprocessed(text)]
    assert [(word, kind) for word, kind in found if not any(kind in each for each in silent)] == expected


@pytest.mark.parametrize("seed", range(40))
def test_any_text_has_tokens_that_are_that_text_again(seed: int) -> None:
    choose = random.Random(seed)
    text = "".join(choose.choices(PIECES, k=choose.randrange(200)))
    if seed < 3:
        text = (LOOP, CALLS, TAIL)[seed]
    elif seed < 10:
        whole = LOOP + CALLS + TAIL
        text = whole[choose.randrange(len(whole)) :][: choose.randrange(300)]
    tokens = list(AmdgpuLexer().get_tokens_unprocessed(text))
    assert "".join(word for _, _, word in tokens) == text
    assert not [word for _, kind, word in tokens if kind is Error]


@pytest.mark.parametrize(
    "text", ['"' * 20_000, "/*" * 20_000, "a" * 40_000, "\\" * 20_000, "\\()" * 10_000, " " * 40_000]
)
def test_no_text_takes_long(text: str) -> None:
    """The lexer examines each character a few times: for a text without that property, this test would not end."""
    assert "".join(word for _, _, word in AmdgpuLexer().get_tokens_unprocessed(text)) == text


def test_pygments_finds_it() -> None:
    assert [point.value for point in entry_points(group="pygments.lexers") if point.name == "amdgpu"] == [
        "rocdbg.cli.amdgpu_lexer:AmdgpuLexer"
    ]
    assert isinstance(get_lexer_by_name("amdgcn"), AmdgpuLexer)


def test_sources_are_coloured_by_what_they_are() -> None:
    coloured = shown_lines(["L_loop:", "\ts_branch L_loop ; again"], "k.s", 0, 2, colour=True)
    assert coloured[0].startswith("\x1b[") and "s_branch" in coloured[1]
    assert "; again" in coloured[1]
    host = shown_lines(["main:", "\tmovl $1, %eax ; x"], "h.s", 0, 2, colour=True)
    assert "\x1b[31m%eax" in host[1], "the host's assembly is another language"
