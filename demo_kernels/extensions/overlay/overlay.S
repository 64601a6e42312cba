// Four iterations of the first loop run concurrently in each lane, as a vectoriser would have it. Their elements of
// the array are in registers until they are stored: the array is its memory, overlaid with the registers
// (DW_OP_LLVM_overlay). `j` and `t` have a value per iteration (DW_OP_LLVM_push_iteration). The second loop runs one
// iteration at a time, and DW_AT_LLVM_iterations changes with the PC.
//
// The document gives DW_AT_LLVM_iterations the code of DW_AT_LLVM_lanes, so an entry can have only one of them: the
// number of lanes is left to the lane PC vector, which has as many elements.

#define SCRATCH_BYTES 64
#include "../target.inc"
#include "../dwarf.inc"

#define I v0
#define ROW_OFFSET v1                       // bytes into `in`, advances with the loop
#define T0 v4                               // t, then the elements of row, of the four iterations
#define T1 v5
#define T2 v6
#define T3 v7
#define SUM v2
#define ELEMENT v3
#define ADDRESS v8
#define J s16
#define K s17
#define BYTES s18                           // where the current element lies in the row
#if WAVE == 64
#define KERNARG s[4:5]
#define WORKGROUP s6
#define STORE_ROW(value, place) buffer_store_dword value, ADDRESS, s[0:3], 0 offen offset:place
#define LOAD_ROW(value) buffer_load_dword value, ADDRESS, s[0:3], 0 offen
#else
#define KERNARG s[0:1]
#define WORKGROUP s2
#define STORE_ROW(value, place) scratch_store_b32 ADDRESS, value, off offset:place
#define LOAD_ROW(value) scratch_load_b32 value, ADDRESS, off
#endif

.text
.globl overlay
.p2align 8
.type overlay,@function
.file 0 "." "overlay.hip"
.Lbegin:
overlay:
    .loc 0 2 0 is_stmt 1
#if WAVE == 64
    s_add_u32 s0, s0, s7
    s_addc_u32 s1, s1, 0
#endif
    s_load_dwordx4 s[12:15], KERNARG, 0x0
    s_lshl_b32 s8, WORKGROUP, 6
    v_and_b32 v0, 0x3ff, v0
    .loc 0 4 24 prologue_end
    V_ADD I, s8, v0
.Li_known:
    v_lshlrev_b32 ROW_OFFSET, 6, I
    s_waitcnt lgkmcnt(0)
.Larguments_loaded:
    .loc 0 5 7
    v_mov_b32 T0, 0
    s_mov_b32 BYTES, 0
.Lclear:
    v_mov_b32 ADDRESS, BYTES
    STORE_ROW(T0, 0)
    s_add_u32 BYTES, BYTES, 4
    s_cmp_lt_u32 BYTES, 64
    s_cbranch_scc1 .Lclear
    s_waitcnt vmcnt(0)
#if WAVE == 32
    s_waitcnt_vscnt null, 0x0
#endif
    .loc 0 6 12
    s_mov_b32 J, 0
.Lconcurrent:
    .loc 0 7 13
    global_load_dwordx4 v[4:7], ROW_OFFSET, s[14:15]
    s_waitcnt vmcnt(0)
.Lt_known:
    .loc 0 8 14
    v_mul_lo_u32 T0, T0, T0
.Lt_gone:
    v_mul_lo_u32 T1, T1, T1
    v_mul_lo_u32 T2, T2, T2
    v_mul_lo_u32 T3, T3, T3
    V_ADD T0, J, T0
    V_ADD T1, J, T1
    V_ADD T2, J, T2
    V_ADD T3, J, T3
    V_ADD T1, 1, T1
    V_ADD T2, 2, T2
    V_ADD T3, 3, T3
.Lin_registers:
    .loc 0 6 28
    s_lshl_b32 BYTES, J, 2
    v_mov_b32 ADDRESS, BYTES
    STORE_ROW(T0, 0)
    STORE_ROW(T1, 4)
    STORE_ROW(T2, 8)
    STORE_ROW(T3, 12)
    s_waitcnt vmcnt(0)
#if WAVE == 32
    s_waitcnt_vscnt null, 0x0
#endif
.Lstored:
    .loc 0 6 28 is_stmt 0
    V_ADD ROW_OFFSET, 16, ROW_OFFSET
    s_add_u32 J, J, 4
    s_cmp_lt_u32 J, 16
    s_cbranch_scc1 .Lconcurrent
.Lconcurrent_end:
    .loc 0 10 7 is_stmt 1
    v_mov_b32 SUM, 0
.Lsum_known:
    .loc 0 11 12
    s_mov_b32 K, 0
.Lsequential:
    .loc 0 12 21
    s_lshl_b32 BYTES, K, 2
    v_mov_b32 ADDRESS, BYTES
    LOAD_ROW(ELEMENT)
    v_mul_lo_u32 SUM, SUM, 5
    s_waitcnt vmcnt(0)
    V_ADD SUM, SUM, ELEMENT
    .loc 0 11 28
    s_add_u32 K, K, 1
    s_cmp_lt_u32 K, 16
    s_cbranch_scc1 .Lsequential
.Lsequential_end:
    .loc 0 13 10
    v_lshlrev_b32 ADDRESS, 2, I
    global_store_dword ADDRESS, SUM, s[12:13]
    .loc 0 14 1
    s_endpgm
.Loverlay_end:
.size overlay, .Loverlay_end - overlay
.Lend:

KERNEL overlay, 12, 24

.macro OWN_ABBREVIATIONS
    ABBREVIATION 0x20, DW_TAG_subprogram, 1
        ATTRIBUTE DW_AT_name, DW_FORM_string
        ATTRIBUTE DW_AT_decl_file, DW_FORM_data1
        ATTRIBUTE DW_AT_decl_line, DW_FORM_data1
        ATTRIBUTE DW_AT_external, DW_FORM_flag_present
        ATTRIBUTE DW_AT_low_pc, DW_FORM_addr
        ATTRIBUTE DW_AT_high_pc, DW_FORM_data4
        ATTRIBUTE DW_AT_calling_convention, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_lane_pc, DW_FORM_sec_offset
        ATTRIBUTE DW_AT_LLVM_iterations, DW_FORM_sec_offset
    END_ABBREVIATION
    ABBREVIATION 0x21, DW_TAG_lexical_block, 1
        ATTRIBUTE DW_AT_low_pc, DW_FORM_addr
        ATTRIBUTE DW_AT_high_pc, DW_FORM_data4
    END_ABBREVIATION
.endm

#include "../unit.inc"

.macro BLOCK low, high
    .uleb128 0x21
    .quad \low
    .long \high - \low
.endm

UNIT overlay.hip
    COMMON_TYPES
    ARRAY_TYPE .Lrow, .Lint, 16
    .uleb128 0x20
    .asciz "overlay"
    .byte 0, 2
    .quad overlay
    .long .Loverlay_end - overlay
    .byte DW_CC_LLVM_DeviceKernel
    .long .Llane_pc_list
    .long .Literations_list
        PARAMETER_LIST "out", 2, .Lint_pointer, .Lout_list
        PARAMETER_LIST "in", 2, .Lconst_int_pointer, .Lin_list
        VARIABLE_LIST "i", 4, .Lint, .Li_list
        VARIABLE_LIST "row", 5, .Lrow, .Lrow_list
        VARIABLE_LIST "sum", 10, .Lint, .Lsum_list
        BLOCK .Lconcurrent, .Lconcurrent_end
            VARIABLE "j", 6, .Lint          // an integer per iteration
                DW_OP_regx DW_S(16)
                DW_OP_deref_size 4
                DW_OP_LLVM_push_iteration
                DW_OP_plus
                DW_OP_stack_value
            END_EXPR
            VARIABLE_LIST "t", 7, .Lint, .Lt_list
        END_CHILDREN
        BLOCK .Lsequential, .Lsequential_end
            VARIABLE "k", 11, .Lint
                DW_OP_regx DW_S(17)
            END_EXPR
        END_CHILDREN
        ACTIVE_LANE_PC
        UNDEFINED_LANE_PC
    END_CHILDREN
END_UNIT

.macro FOUR_REGISTERS
    LANE_OF_VGPR 4
    DW_OP_piece 4
    LANE_OF_VGPR 5
    DW_OP_piece 4
    LANE_OF_VGPR 6
    DW_OP_piece 4
    LANE_OF_VGPR 7
    DW_OP_piece 4
    DW_OP_LLVM_piece_end
.endm
.macro ROW_MEMORY
    DW_OP_lit 0
    DW_OP_lit ASPACE_private_lane
    DW_OP_LLVM_form_aspace_address
.endm

LOCATION_LISTS
.Llane_pc_list:
    LANE_PC overlay, .Loverlay_end, .Ldivergent_lane_pc
    END_OF_LIST
.Literations_list:
    LOCATION .Lconcurrent, .Lconcurrent_end
        DW_OP_lit 4
        DW_OP_stack_value
    END_LOCATION
    DEFAULT_LOCATION
        DW_OP_lit 1
        DW_OP_stack_value
    END_LOCATION
    END_OF_LIST
.Lout_list:
    LOCATION .Larguments_loaded, .Loverlay_end
        SGPR_PAIR 12
    END_LOCATION
    END_OF_LIST
.Lin_list:
    LOCATION .Larguments_loaded, .Loverlay_end
        SGPR_PAIR 14
    END_LOCATION
    END_OF_LIST
.Li_list:
    LOCATION .Li_known, .Loverlay_end
        LANE_OF_VGPR 0
    END_LOCATION
    END_OF_LIST
.Lrow_list:
    LOCATION .Lin_registers, .Lstored
        ROW_MEMORY                          // the base
        FOUR_REGISTERS                      // what lies over it
        DW_OP_regx DW_S(16)             // from byte 4 * j on
        DW_OP_deref_size 4
        DW_OP_lit 4
        DW_OP_mul
        DW_OP_lit 16                        // 16 bytes
        DW_OP_LLVM_overlay
    END_LOCATION
    DEFAULT_LOCATION
        ROW_MEMORY
    END_LOCATION
    END_OF_LIST
.Lt_list:
    LOCATION .Lt_known, .Lt_gone
        FOUR_REGISTERS
        DW_OP_LLVM_push_iteration
        DW_OP_lit 4
        DW_OP_mul
        DW_OP_LLVM_offset
    END_LOCATION
    END_OF_LIST
.Lsum_list:
    LOCATION .Lsum_known, .Loverlay_end
        LANE_OF_VGPR 2
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
FDE overlay
END_FDE overlay
