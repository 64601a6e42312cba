// A compiler that keeps a struct in registers has no address for pointers to it. DW_OP_implicit_pointer says what they
// point to, here through two levels (pp -> p -> pair) and into the middle of the struct;
// DW_OP_LLVM_aspace_implicit_pointer does for a pointer to LDS.

#include "../target.inc"
#include "../dwarf.inc"

#define I v0
#define OFFSET v1
#define FIRST v2
#define SECOND v3
#define SLOT v4
#define RESULT v5

.text
.globl pointers
.p2align 8
.type pointers,@function
.file 0 "." "pointers.hip"
.Lbegin:
pointers:                                   // s[0:1] kernarg segment, s2 workgroup, v0 work-item
    .loc 0 5 0 is_stmt 1
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_lshl_b32 s2, s2, 6
    v_and_b32 v0, 0x3ff, v0
    .loc 0 7 24 prologue_end
    V_ADD I, s2, v0
.Li_known:
    .loc 0 9 16
    v_lshlrev_b32 OFFSET, 2, I
    s_waitcnt lgkmcnt(0)
.Larguments_loaded:
    global_load_dword FIRST, OFFSET, s[6:7]
    v_mov_b32 SECOND, 7
    s_waitcnt vmcnt(0)
.Lpair_known:
    .loc 0 14 17
    v_lshlrev_b32 RESULT, 1, FIRST
    V_ADD SECOND, SECOND, RESULT
    .loc 0 15 11
    V_ADD SLOT, -1, SECOND
.Lslot_known:
    .loc 0 16 10
    v_xor_b32 RESULT, SLOT, FIRST
    global_store_dword OFFSET, RESULT, s[4:5]
    .loc 0 17 1
    s_endpgm
.Lpointers_end:
.size pointers, .Lpointers_end - pointers
.Lend:

KERNEL pointers, 8, 16

.macro OWN_ABBREVIATIONS
    ABBREVIATION 0x20, DW_TAG_pointer_type, 0
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_byte_size, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_address_space, DW_FORM_data1
    END_ABBREVIATION
.endm

#include "../unit.inc"

UNIT pointers.hip
    COMMON_TYPES
    STRUCTURE_TYPE .Lpair, "Pair", 8
        MEMBER "first", .Lint, 0
        MEMBER "second", .Lint, 4
    END_CHILDREN
    POINTER_TYPE .Lpair_pointer, .Lpair
    POINTER_TYPE .Lpair_pointer_pointer, .Lpair_pointer
.Llocal_pointer:
    .uleb128 0x20
    REFERENCE .Lint
    .byte 4, ASPACE_local
    SUBPROGRAM pointers, 5, DW_CC_LLVM_DeviceKernel, .Llane_pc_list
        PARAMETER_LIST "out", 5, .Lint_pointer, .Lout_list
        PARAMETER_LIST "in", 5, .Lconst_int_pointer, .Lin_list
        VARIABLE_LIST "i", 7, .Lint, .Li_list
.Lslot_variable:
        VARIABLE_LIST "slot", 8, .Lint, .Lslot_list
.Lpair_variable:
        VARIABLE_LIST "pair", 9, .Lpair, .Lpair_list
.Lp_variable:
        VARIABLE "p", 10, .Lpair_pointer
            DW_OP_implicit_pointer .Lpair_variable, 0
        END_EXPR
        VARIABLE "pp", 11, .Lpair_pointer_pointer
            DW_OP_implicit_pointer .Lp_variable, 0
        END_EXPR
        VARIABLE "second", 12, .Lint_pointer
            DW_OP_implicit_pointer .Lpair_variable, 4
        END_EXPR
        VARIABLE "shared", 13, .Llocal_pointer
            DW_OP_lit ASPACE_local
            DW_OP_LLVM_aspace_implicit_pointer .Lslot_variable, 0
        END_EXPR
        ACTIVE_LANE_PC
        UNDEFINED_LANE_PC
    END_CHILDREN
END_UNIT

LOCATION_LISTS
.Llane_pc_list:
    LANE_PC pointers, .Lpointers_end, .Ldivergent_lane_pc
    END_OF_LIST
.Lout_list:
    LOCATION .Larguments_loaded, .Lpointers_end
        SGPR_PAIR 4
    END_LOCATION
    END_OF_LIST
.Lin_list:
    LOCATION .Larguments_loaded, .Lpointers_end
        SGPR_PAIR 6
    END_LOCATION
    END_OF_LIST
.Li_list:
    LOCATION .Li_known, .Lpointers_end
        LANE_OF_VGPR 0
    END_LOCATION
    END_OF_LIST
.Lslot_list:
    LOCATION .Lslot_known, .Lpointers_end
        LANE_OF_VGPR 4
    END_LOCATION
    END_OF_LIST
.Lpair_list:
    LOCATION .Lpair_known, .Lpointers_end
        LANE_OF_VGPR 2
        DW_OP_piece 4
        LANE_OF_VGPR 3
        DW_OP_piece 4
    END_LOCATION
    END_OF_LIST
END_LOCATION_LISTS

CIE
    DW_CFA_def_cfa_expression
        DW_OP_lit 0
        DW_OP_lit ASPACE_private_wave
        DW_OP_LLVM_form_aspace_address
    END_CFA
    DW_CFA_undefined DW_PC
END_CIE
FDE pointers
END_FDE pointers
