// The nested if/then/else of the AMDGPU usage guide (section "DW_AT_LLVM_lane_pc") as a program that runs, with the
// guide's DWARF procedures, saved execution masks and lane PC vector. Labels are the guide's.
//
// Two things differ from the guide's example, which contradicts its own prose there: at `e` the divergent lanes
// are those of __divergent_lane_pc_1_then, the enclosing region (the example has the function's); and
// DW_OP_deref_type takes its size in bytes.

#include "../target.inc"
#include "../dwarf.inc"

#define OUT s[4:5]
#define IN s[6:7]
#define LEX_1_EXEC MASK(10, 11)             // %1; parked in lanes 0 and 1 of SPILLS during the inner region
#define LEX_1_1_EXEC MASK(12, 13)           // %3
#define I v0
#define OFFSET v1
#define X v2
#define R v3
#define SCRATCH v4
#define SPILLS v5

.text
.globl nested
.p2align 8
.type nested,@function
.file 0 "." "nested.hip"
.Lbegin:
nested:                                     // s[0:1] kernarg segment, s2 workgroup, v0 work-item
    .loc 0 2 0 is_stmt 1
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_lshl_b32 s2, s2, 6
    v_and_b32 v0, 0x3ff, v0                 // x of a packed work-item id
    .loc 0 4 24 prologue_end
    V_ADD I, s2, v0
.Li_known:
    .loc 0 5 11
    v_lshlrev_b32 OFFSET, 2, I
    s_waitcnt lgkmcnt(0)
.Larguments_loaded:
    global_load_dword X, OFFSET, IN
    s_waitcnt vmcnt(0)
.Lx_known:
    .loc 0 6 7
    v_mov_b32 R, 0
.Lr_known:
    .loc 0 7 7
    v_and_b32 SCRATCH, 1, X
    v_cmp_eq_u32 VCC, 1, SCRATCH
    S_MOV_MASK LEX_1_EXEC, EXEC
.Llex_1_start:
    S_AND_MASK EXEC, LEX_1_EXEC, VCC
.Llex_1_then:
    s_cbranch_execz .Llex_1_invert
    .loc 0 8 11
    v_mul_lo_u32 R, X, 3                    // b
    .loc 0 9 9
    v_and_b32 SCRATCH, 2, X
    v_cmp_ne_u32 VCC, 0, SCRATCH
    v_writelane_b32 SPILLS, s10, 0
    v_writelane_b32 SPILLS, s11, 1
.Llex_1_spilled:
    s_mov_b32 s10, 0x5ca1ab1e               // nothing may depend on what is left in the registers
    s_mov_b32 s11, 0x0ddba11
    S_MOV_MASK LEX_1_1_EXEC, EXEC
.Llex_1_1_start:
    S_AND_MASK EXEC, LEX_1_1_EXEC, VCC
.Llex_1_1_then:
    s_cbranch_execz .Llex_1_1_invert
    .loc 0 10 9
    V_ADD R, 100, R                         // c
.Llex_1_1_invert:
    .loc 0 10 9 is_stmt 0
    S_ANDN2_MASK EXEC, LEX_1_1_EXEC, EXEC
.Llex_1_1_else:
    .loc 0 11 5 is_stmt 0
    s_cbranch_execz .Llex_1_1_restore
    .loc 0 12 9 is_stmt 1
    V_ADD R, -1, R                          // d
.Llex_1_1_restore:
    .loc 0 12 9 is_stmt 0
    S_MOV_MASK EXEC, LEX_1_1_EXEC
.Llex_1_1_end:
    .loc 0 13 7 is_stmt 1
    v_xor_b32 R, 5, R                       // e
    .loc 0 13 7 is_stmt 0
    v_readlane_b32 s10, SPILLS, 0
    v_readlane_b32 s11, SPILLS, 1
.Llex_1_invert:
    S_ANDN2_MASK EXEC, LEX_1_EXEC, EXEC
.Llex_1_else:
    .loc 0 14 5 is_stmt 0
    s_cbranch_execz .Llex_1_restore
    .loc 0 15 11 is_stmt 1
    V_ADD R, 7, X                           // f
.Llex_1_restore:
    .loc 0 15 11 is_stmt 0
    S_MOV_MASK EXEC, LEX_1_EXEC
.Llex_1_end:
    .loc 0 16 10 is_stmt 1
    v_lshlrev_b32 SCRATCH, 1, R             // g
    global_store_dword OFFSET, SCRATCH, OUT
    .loc 0 17 1
    s_endpgm
.Lnested_end:
.size nested, .Lnested_end - nested
.Lend:

KERNEL nested, 8, 16

.macro OWN_ABBREVIATIONS
#ifndef DIALECT_llvm22
    ABBREVIATION 0x20, DW_TAG_subprogram, 1
        ATTRIBUTE DW_AT_name, DW_FORM_string
        ATTRIBUTE DW_AT_decl_file, DW_FORM_data1
        ATTRIBUTE DW_AT_decl_line, DW_FORM_data1
        ATTRIBUTE DW_AT_external, DW_FORM_flag_present
        ATTRIBUTE DW_AT_low_pc, DW_FORM_addr
        ATTRIBUTE DW_AT_high_pc, DW_FORM_data4
        ATTRIBUTE DW_AT_calling_convention, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_lanes, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_lane_pc, DW_FORM_sec_offset
        ATTRIBUTE DW_AT_LLVM_active_lane, DW_FORM_exprloc
    END_ABBREVIATION
#endif
.endm

#include "../unit.inc"

UNIT nested.hip
    COMMON_TYPES
#ifdef DIALECT_llvm22
    SUBPROGRAM nested, 2, DW_CC_LLVM_DeviceKernel, .Llane_pc_list
#else
    .uleb128 0x20
    .asciz "nested"
    .byte 0, 2
    .quad nested
    .long .Lnested_end - nested
    .byte DW_CC_LLVM_DeviceKernel
    .byte WAVE
    .long .Llane_pc_list
    EXPR
        DW_OP_regx DW_EXEC
    END_EXPR
#endif
        PARAMETER_LIST "out", 2, .Lint_pointer, .Lout_list
        PARAMETER_LIST "in", 2, .Lconst_int_pointer, .Lin_list
        VARIABLE_LIST "i", 4, .Lint, .Li_list
        VARIABLE_LIST "x", 5, .Lint, .Lx_list
        VARIABLE_LIST "r", 6, .Lint, .Lr_list
        ARTIFICIAL_VARIABLE .Llex_1_save_exec, "__lex_1_save_exec", .Lmask, .Llex_1_save_exec_list
        ARTIFICIAL_VARIABLE .Llex_1_1_save_exec, "__lex_1_1_save_exec", .Lmask, .Llex_1_1_save_exec_list
        ACTIVE_LANE_PC
        UNDEFINED_LANE_PC
        DIVERGENT_LANE_PC .Llane_pc_1_then, "__divergent_lane_pc_1_then", .Ldivergent_lane_pc, .Llex_1_start, .Llex_1_save_exec
        DIVERGENT_LANE_PC .Llane_pc_1_1_then, "__divergent_lane_pc_1_1_then", .Llane_pc_1_then, .Llex_1_1_start, .Llex_1_1_save_exec
        DIVERGENT_LANE_PC .Llane_pc_1_1_else, "__divergent_lane_pc_1_1_else", .Llane_pc_1_then, .Llex_1_1_end, .Llex_1_1_save_exec
        DIVERGENT_LANE_PC .Llane_pc_1_else, "__divergent_lane_pc_1_else", .Ldivergent_lane_pc, .Llex_1_end, .Llex_1_save_exec
    END_CHILDREN
END_UNIT

LOCATION_LISTS
.Llane_pc_list:
    LANE_PC nested, .Llex_1_then, .Ldivergent_lane_pc
    LANE_PC .Llex_1_then, .Llex_1_1_then, .Llane_pc_1_then
    LANE_PC .Llex_1_1_then, .Llex_1_1_else, .Llane_pc_1_1_then
    LANE_PC .Llex_1_1_else, .Llex_1_1_end, .Llane_pc_1_1_else
    LANE_PC .Llex_1_1_end, .Llex_1_else, .Llane_pc_1_then
    LANE_PC .Llex_1_else, .Llex_1_end, .Llane_pc_1_else
    LANE_PC .Llex_1_end, .Lnested_end, .Ldivergent_lane_pc
    END_OF_LIST
.Llex_1_save_exec_list:
    LOCATION .Llex_1_start, .Llex_1_spilled
        SGPR_MASK 10
    END_LOCATION
    LOCATION .Llex_1_spilled, .Llex_1_invert
        DW_OP_regx DW_V(5)
        DW_OP_bit_piece 32, 0
#if WAVE == 64
        DW_OP_regx DW_V(5)
        DW_OP_bit_piece 32, 32
#endif
    END_LOCATION
    LOCATION .Llex_1_invert, .Lnested_end
        SGPR_MASK 10
    END_LOCATION
    END_OF_LIST
.Llex_1_1_save_exec_list:
    LOCATION .Llex_1_1_start, .Llex_1_invert
        SGPR_MASK 12
    END_LOCATION
    END_OF_LIST
// In the kernarg segment until they are loaded; s[0:1] still point at it.
.Lout_list:
    LOCATION nested, .Larguments_loaded
        SGPR_PAIR 0
        DW_OP_LLVM_piece_end
        DW_OP_deref
    END_LOCATION
    LOCATION .Larguments_loaded, .Lnested_end
        SGPR_PAIR 4
    END_LOCATION
    END_OF_LIST
.Lin_list:
    LOCATION nested, .Larguments_loaded
        SGPR_PAIR 0
        DW_OP_LLVM_piece_end
        DW_OP_deref
        DW_OP_plus_uconst 8
    END_LOCATION
    LOCATION .Larguments_loaded, .Lnested_end
        SGPR_PAIR 6
    END_LOCATION
    END_OF_LIST
.Li_list:
    LOCATION .Li_known, .Lnested_end
        LANE_OF_VGPR 0
    END_LOCATION
    END_OF_LIST
.Lx_list:
    LOCATION .Lx_known, .Lnested_end
        DW_OP_regx DW_V(2)
        DW_OP_LLVM_push_lane
        DW_OP_lit 5
        DW_OP_shl
        DW_OP_LLVM_bit_offset               // the same thing in bits
    END_LOCATION
    END_OF_LIST
.Lr_list:
    LOCATION .Lr_known, .Lnested_end
        LANE_OF_VGPR 3
    END_LOCATION
    END_OF_LIST
END_LOCATION_LISTS

CIE
    DW_CFA_def_cfa_expression               // a kernel's frame begins at 0 of the wave's private memory
        DW_OP_lit 0
        DW_OP_lit ASPACE_private_wave
        DW_OP_LLVM_form_aspace_address
    END_CFA
    DW_CFA_undefined DW_PC                  // and nobody called it
END_CIE
FDE nested
END_FDE nested
