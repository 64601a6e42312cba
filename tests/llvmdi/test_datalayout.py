"""Sizes, alignments and places of parts, against LLVM's own, for types under several data layouts."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from rocdbg import llvmdi
from rocdbg.llvmdi.datalayout import AMDGCN_LAYOUT
from rocdbg.llvmdi.llvm_types import StructType

TYPES = [
    "i1", "i5", "i8", "i9", "i16", "i17", "i24", "i32", "i33", "i64", "i65", "i128", "i256", "half", "bfloat",
    "float", "double", "fp128", "ptr", "ptr addrspace(3)", "ptr addrspace(5)", "ptr addrspace(8)", "<2 x i8>",
    "<3 x i8>", "<4 x half>", "<2 x i32>", "<3 x i32>", "<4 x float>", "<8 x i32>", "<5 x i64>", "<16 x i1>",
    "<3 x ptr>", "[3 x i24]", "[0 x i32]", "[4 x [2 x i16]]", "[3 x <3 x i32>]", "{}", "{i8}", "{i8, i32}",
    "{i8, i64, i8}", "{i1, i17, i8}", "<{i8, i32}>", "<{i16, i8, double}>", "{i8, {i16, i8}, i32}",
    "{i8, <{i8, i32}>, i16}", "[2 x {i8, i32, i8}]", "{i8, [3 x i16], ptr}", "{i8, <3 x i32>, half}",
    "{i8, ptr addrspace(3), i8}", "%named", "{i8, %named}",
]
LAYOUTS = [
    AMDGCN_LAYOUT.removesuffix("-ni:7:8:9"),
    "e-p:64:64-i64:64",
    "e-p:64:64-p3:32:64-p5:32:32-p8:128:128:128:48",
    "e-p:32:32-p5:16:16-i32:16-i64:32-f64:32-v64:32-v128:64",
    "e-m:e-p:64:64-i1:8-i8:8-i24:32-i128:128-f16:32-a:64",
]


GLOBALS = "".join(f"@g{n} = external global {text}\n" for n, text in enumerate(TYPES))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_as_llvm(layout: str) -> None:
    text = f'target datalayout = "{layout}"\n%named = type {{ i8, i32 }}\n{GLOBALS}'
    module, same, target = llvmdi.read_text(text), llvm.parse_assembly(text), llvm.create_target_data(layout)
    for n, words in enumerate(TYPES):
        own, theirs = module.globals[f"@g{n}"].type, same.get_global_variable(f"g{n}").global_value_type
        assert module.layout.allocated(own) == target.get_abi_size(theirs), words
        whole = module.layout.resolved(own)
        if isinstance(whole, StructType):
            places = [target.get_element_offset(theirs, k) for k in range(len(whole.elements))]
            assert [bit // 8 for _, bit in module.layout.places(whole)] == places, words
