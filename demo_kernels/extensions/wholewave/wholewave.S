// Whole wave mode: to add up a value over the lanes that took a branch, all lanes are switched on for a while, those
// that did not take it with 0 (in groups of 32, so that both wave sizes give the same). EXEC is then no longer the
// mask of active lanes; DW_AT_LLVM_active_lane says where that one is, by a location list whose default entry is EXEC,
// and the lane PC is made of it.

#include "../target.inc"
#include "../dwarf.inc"

#define OUT s[4:5]
#define IN s[6:7]
#define BRANCH_EXEC MASK(8, 9)
#define ACTIVE MASK(10, 11)
#define I v0
#define OFFSET v1
#define X v2
#define TOTAL v3
#define LANE v4
#define PARTNER v5
#define OTHER v6

.macro ADD_PARTNER distance                 // butterfly: add the value of lane ^ distance
    v_xor_b32 PARTNER, \distance * 4, LANE
    ds_bpermute_b32 OTHER, PARTNER, TOTAL
    s_waitcnt lgkmcnt(0)
    V_ADD TOTAL, TOTAL, OTHER
.endm

.text
.globl wholewave
.p2align 8
.type wholewave,@function
.file 0 "." "wholewave.hip"
.Lbegin:
wholewave:                                  // s[0:1] kernarg segment, s2 workgroup, v0 work-item
    .loc 0 2 0 is_stmt 1
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_lshl_b32 s2, s2, 6
    v_and_b32 v0, 0x3ff, v0
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
    v_cmp_lt_i32 VCC, 50, X
    S_MOV_MASK BRANCH_EXEC, EXEC
.Lbranch:
    S_AND_MASK EXEC, BRANCH_EXEC, VCC
.Lthen:
    s_cbranch_execz .Lrestore
    .loc 0 7 17
    S_OR_SAVEEXEC ACTIVE, -1                // every lane, also those beyond a partial wave
.Lwhole_wave:
    v_cndmask_b32 TOTAL, 0, X, ACTIVE
    v_mbcnt_lo_u32_b32 LANE, -1, 0
#if WAVE == 64
    v_mbcnt_hi_u32_b32 LANE, -1, LANE
#endif
    v_lshlrev_b32 LANE, 2, LANE
    ADD_PARTNER 1
    ADD_PARTNER 2
    ADD_PARTNER 4
    ADD_PARTNER 8
    ADD_PARTNER 16
.Lsummed:
    S_MOV_MASK EXEC, ACTIVE
.Lnormal:
    .loc 0 8 15
    V_SUB X, TOTAL, X
.Lrestore:
    .loc 0 8 15 is_stmt 0
    S_MOV_MASK EXEC, BRANCH_EXEC
.Ljoin:
    .loc 0 10 10 is_stmt 1
    global_store_dword OFFSET, X, OUT
    .loc 0 11 1
    s_endpgm
.Lwholewave_end:
.size wholewave, .Lwholewave_end - wholewave
.Lend:

KERNEL wholewave, 8, 16

.macro OWN_ABBREVIATIONS
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
        ATTRIBUTE DW_AT_LLVM_active_lane, DW_FORM_sec_offset
    END_ABBREVIATION
.endm

#include "../unit.inc"

UNIT wholewave.hip
    COMMON_TYPES
    .uleb128 0x20
    .asciz "wholewave"
    .byte 0, 2
    .quad wholewave
    .long .Lwholewave_end - wholewave
    .byte DW_CC_LLVM_DeviceKernel
    .byte WAVE
    .long .Llane_pc_list
    .long .Lactive_lane_list
        PARAMETER_LIST "out", 2, .Lint_pointer, .Lout_list
        PARAMETER_LIST "in", 2, .Lconst_int_pointer, .Lin_list
        VARIABLE_LIST "i", 4, .Lint, .Li_list
        VARIABLE_LIST "x", 5, .Lint, .Lx_list
        VARIABLE_LIST "total", 7, .Lint, .Ltotal_list
        ARTIFICIAL_VARIABLE .Lactive_lane, "__active_lane", .Lmask, .Lactive_lane_list
        ARTIFICIAL_VARIABLE .Lbranch_save_exec, "__lex_1_save_exec", .Lmask, .Lbranch_save_exec_list
        DWARF_PROCEDURE .Lactive_lane_pc, "__active_lane_pc"
            DW_OP_regx DW_PC
            DW_OP_LLVM_extend 64, WAVE
            DW_OP_call_ref .Lactive_lane    // not EXEC
            DW_OP_deref_type WAVE / 8, .Lmask
            DW_OP_LLVM_select_bit_piece 64, WAVE
        END_EXPR
        UNDEFINED_LANE_PC
        // There is no "else": lanes that did not take the branch go on behind it.
        DIVERGENT_LANE_PC .Llane_pc_1_then, "__divergent_lane_pc_1_then", .Ldivergent_lane_pc, .Ljoin, .Lbranch_save_exec
    END_CHILDREN
END_UNIT

LOCATION_LISTS
.Llane_pc_list:
    LANE_PC wholewave, .Lthen, .Ldivergent_lane_pc
    LANE_PC .Lthen, .Ljoin, .Llane_pc_1_then
    LANE_PC .Ljoin, .Lwholewave_end, .Ldivergent_lane_pc
    END_OF_LIST
.Lactive_lane_list:
    LOCATION .Lwhole_wave, .Lnormal
        SGPR_MASK 10
    END_LOCATION
    DEFAULT_LOCATION
        DW_OP_regx DW_EXEC
    END_LOCATION
    END_OF_LIST
.Lbranch_save_exec_list:
    LOCATION .Lbranch, .Lwholewave_end
        SGPR_MASK 8
    END_LOCATION
    END_OF_LIST
.Lout_list:
    LOCATION .Larguments_loaded, .Lwholewave_end
        SGPR_PAIR 4
    END_LOCATION
    END_OF_LIST
.Lin_list:
    LOCATION .Larguments_loaded, .Lwholewave_end
        SGPR_PAIR 6
    END_LOCATION
    END_OF_LIST
.Li_list:
    LOCATION .Li_known, .Lwholewave_end
        LANE_OF_VGPR 0
    END_LOCATION
    END_OF_LIST
.Lx_list:
    LOCATION .Lx_known, .Lwholewave_end
        LANE_OF_VGPR 2
    END_LOCATION
    END_OF_LIST
.Ltotal_list:
    LOCATION .Lsummed, .Lrestore
        LANE_OF_VGPR 3
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
FDE wholewave
END_FDE wholewave
