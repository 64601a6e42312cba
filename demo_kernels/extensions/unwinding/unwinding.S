// Calls in divergent code, with call frame information of every kind of rule.
//
//              return address          EXEC of the caller      frame pointer s33      other
//   leaf       s[30:31]                same value              same value
//   inner      scratch, offset(N)      s[36:37]                register s41           v41, v42: spilled for the
//                                                                                     active lanes only
//   outer      v40, lanes 0 and 1      s[34:35]                v40, lane 2            v40: spilled for all lanes
//   unwinding  undefined: a kernel
//
// Convention: s[30:31] return address, s32 stack pointer, v0 argument and result; v0 to v7 and s4 to s9 are lost in a
// call, the rest is kept for the caller or described as undefined. v43 is only for spilling SGPRs. Stack pointers are
// as the processor's private memory wants them: in bytes of the whole wave with a scratch buffer (gfx90a), in
// bytes of a lane with flat scratch (gfx1100). The CFA is an address in the wave's private memory.

#define SCRATCH_BYTES 48
#include "../target.inc"
#include "../dwarf.inc"

#define OUT s[44:45]
#define IN s[46:47]
#define KERNEL_EXEC MASK(48, 49)
#define OUTER_EXEC MASK(34, 35)
#define INNER_EXEC MASK(36, 37)
#if WAVE == 64
#define KERNARG s[4:5]
#define WORKGROUP s6
#define FRAME (16 * 64)
#define STORE(register, base, place) buffer_store_dword register, off, s[0:3], base offset:place
#define LOAD(register, base, place) buffer_load_dword register, off, s[0:3], base offset:place
#else
#define KERNARG s[0:1]
#define WORKGROUP s2
#define FRAME 16
#define STORE(register, base, place) scratch_store_b32 off, register, base offset:place
#define LOAD(register, base, place) scratch_load_b32 register, off, base offset:place
#endif

.text
.p2align 8
.file 0 "." "unwinding.hip"
.Lbegin:

.type leaf,@function
leaf:
    .loc 0 2 0 is_stmt 1
    .loc 0 4 12 prologue_end
    v_mul_lo_u32 v0, v0, v0
.Lleaf_squared:
    .loc 0 4 3
    s_setpc_b64 s[30:31]
.Lleaf_end:
.size leaf, .Lleaf_end - leaf

.p2align 6
.type inner,@function
inner:
    .loc 0 6 0
    STORE(v41, s32, 0)                      // only lanes that made the call
    STORE(v42, s32, 8)
.Linner_spilled:
    v_mov_b32 v41, v0                       // x
.Linner_x_kept:
    S_MOV_MASK INNER_EXEC, EXEC
.Linner_exec_saved:
    v_writelane_b32 v43, s30, 0
    v_writelane_b32 v43, s31, 1
    S_MOV_MASK EXEC, 3
.Linner_exec_changed:
    STORE(v43, s32, 4)                      // the two lanes' dwords lie side by side
    S_MOV_MASK EXEC, INNER_EXEC
.Linner_return_saved:
    s_mov_b32 s41, s33
.Linner_pointer_saved:
    s_mov_b32 s33, s32
.Linner_framed:
    s_add_u32 s32, s32, FRAME
    .loc 0 8 7 prologue_end
    v_mov_b32 v42, v41
.Linner_r_known:
    .loc 0 9 7
    v_and_b32 v0, 4, v41
    v_cmp_ne_u32 VCC, 0, v0
    S_AND_MASK EXEC, INNER_EXEC, VCC
.Linner_then:
    s_cbranch_execz .Linner_restore
    .loc 0 10 9
    v_mov_b32 v0, v41
    s_call_b64 s[30:31], leaf
.Linner_returned:
    .loc 0 10 17 is_stmt 0
    V_ADD v42, 1, v0
.Linner_restore:
    S_MOV_MASK EXEC, INNER_EXEC
.Linner_join:
    .loc 0 11 10 is_stmt 1
    v_mov_b32 v0, v42
    .loc 0 11 3 epilogue_begin
    S_MOV_MASK EXEC, 3
.Linner_exec_changed_again:
    LOAD(v43, s33, 4)
    s_waitcnt vmcnt(0)
    v_readlane_b32 s30, v43, 0
    v_readlane_b32 s31, v43, 1
.Linner_return_back:
    S_MOV_MASK EXEC, INNER_EXEC
.Linner_exec_back:
    LOAD(v41, s33, 0)
    LOAD(v42, s33, 8)
    s_waitcnt vmcnt(0)
.Linner_vgprs_back:
    s_mov_b32 s32, s33
.Linner_unframed:
    s_mov_b32 s33, s41
.Linner_pointer_back:
    s_setpc_b64 s[30:31]
.Linner_end:
.size inner, .Linner_end - inner

.p2align 6
.type outer,@function
outer:
    .loc 0 13 0
    S_OR_SAVEEXEC OUTER_EXEC, -1
.Louter_whole_wave:
    STORE(v40, s32, 0)                      // all lanes
.Louter_v40_spilled:
    S_MOV_MASK EXEC, OUTER_EXEC
.Louter_normal:
    v_writelane_b32 v40, s30, 0
    v_writelane_b32 v40, s31, 1
    v_writelane_b32 v40, s33, 2
.Louter_saved:
    s_mov_b32 s33, s32
.Louter_framed:
    s_add_u32 s32, s32, FRAME
    .loc 0 15 13 prologue_end
    v_mov_b32 v42, v0                       // x
.Louter_x_kept:
    v_mul_lo_u32 v41, v0, 7
    V_ADD v41, 1, v41
.Louter_k_known:
    .loc 0 16 7
    v_mov_b32 v49, 0
.Louter_r_known:
    .loc 0 17 7
    v_and_b32 v0, 2, v42
    v_cmp_ne_u32 VCC, 0, v0
    S_AND_MASK EXEC, OUTER_EXEC, VCC
.Louter_then:
    s_cbranch_execz .Louter_restore
    .loc 0 18 9
    v_mov_b32 v0, v42
    s_call_b64 s[30:31], inner
.Louter_returned:
    .loc 0 18 7 is_stmt 0
    v_mov_b32 v49, v0
.Louter_restore:
    S_MOV_MASK EXEC, OUTER_EXEC
.Louter_join:
    .loc 0 19 12 is_stmt 1
    V_ADD v0, v49, v41
    .loc 0 19 3 epilogue_begin
    v_readlane_b32 s30, v40, 0
    v_readlane_b32 s31, v40, 1
.Louter_return_back:
    s_mov_b32 s32, s33
.Louter_unframed:
    v_readlane_b32 s33, v40, 2
.Louter_pointer_back:
    S_OR_SAVEEXEC OUTER_EXEC, -1
.Louter_whole_wave_again:
    LOAD(v40, s32, 0)
    s_waitcnt vmcnt(0)
.Louter_v40_back:
    S_MOV_MASK EXEC, OUTER_EXEC
.Louter_normal_again:
    s_setpc_b64 s[30:31]
.Louter_end:
.size outer, .Louter_end - outer

.globl unwinding
.p2align 8
.type unwinding,@function
unwinding:
    .loc 0 21 0
#if WAVE == 64
    s_add_u32 s0, s0, s7
    s_addc_u32 s1, s1, 0
#endif
    s_load_dwordx4 s[44:47], KERNARG, 0x0
    s_lshl_b32 s8, WORKGROUP, 6
    v_and_b32 v0, 0x3ff, v0
    s_mov_b32 s32, 0
    s_mov_b32 s33, 0x5eed                   // a mark: not a pointer of anybody's
    .loc 0 23 24 prologue_end
    V_ADD v45, s8, v0
.Lunwinding_i_known:
    .loc 0 24 11
    v_lshlrev_b32 v46, 2, v45
    s_waitcnt lgkmcnt(0)
.Lunwinding_arguments_loaded:
    global_load_dword v47, v46, IN
    v_mov_b32 v40, v45                      // something of its own in a register that outer uses
    s_waitcnt vmcnt(0)
.Lunwinding_x_known:
    .loc 0 25 11
    V_SUB v48, 0, v47
.Lunwinding_r_known:
    .loc 0 26 7
    v_and_b32 v0, 1, v47
    v_cmp_ne_u32 VCC, 0, v0
    S_MOV_MASK KERNEL_EXEC, EXEC
    S_AND_MASK EXEC, KERNEL_EXEC, VCC
.Lunwinding_then:
    s_cbranch_execz .Lunwinding_restore
    .loc 0 27 9
    v_mov_b32 v0, v47
    s_call_b64 s[30:31], outer
.Lunwinding_returned:
    .loc 0 27 7 is_stmt 0
    v_mov_b32 v48, v0
.Lunwinding_restore:
    S_MOV_MASK EXEC, KERNEL_EXEC
.Lunwinding_join:
    .loc 0 28 10 is_stmt 1
    global_store_dword v46, v48, OUT
    .loc 0 29 1
    s_endpgm
.Lunwinding_end:
.size unwinding, .Lunwinding_end - unwinding
.Lend:

KERNEL unwinding, 52, 56

.macro OWN_ABBREVIATIONS
    ABBREVIATION 0x20, DW_TAG_subprogram, 1
        ATTRIBUTE DW_AT_name, DW_FORM_string
        ATTRIBUTE DW_AT_decl_file, DW_FORM_data1
        ATTRIBUTE DW_AT_decl_line, DW_FORM_data1
        ATTRIBUTE DW_AT_prototyped, DW_FORM_flag_present
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_low_pc, DW_FORM_addr
        ATTRIBUTE DW_AT_high_pc, DW_FORM_data4
        ATTRIBUTE DW_AT_LLVM_lanes, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_lane_pc, DW_FORM_sec_offset
#ifndef DIALECT_llvm22
        ATTRIBUTE DW_AT_LLVM_active_lane, DW_FORM_sec_offset
#endif
        ATTRIBUTE DW_AT_frame_base, DW_FORM_exprloc
    END_ABBREVIATION
.endm

#include "../unit.inc"

.macro FUNCTION name, line
    .uleb128 0x20
    .asciz "\name"
    .byte 0, \line
    REFERENCE .Lint
    .quad \name
    .long .L\name\()_end - \name
    .byte WAVE
    .long .L\name\()_lane_pc_list
#ifndef DIALECT_llvm22
    .long .L\name\()_active_lane_list
#endif
    EXPR
        .byte 0x9c                          // DW_OP_call_frame_cfa
    END_EXPR
    ARTIFICIAL_VARIABLE .L\name\()_active_lane, "__active_lane", .Lmask, .L\name\()_active_lane_list
    DWARF_PROCEDURE .L\name\()_active_lane_pc, "__active_lane_pc"
        DW_OP_regx DW_PC
        DW_OP_LLVM_extend 64, WAVE
        DW_OP_call_ref .L\name\()_active_lane
        DW_OP_deref_type WAVE / 8, .Lmask
        DW_OP_LLVM_select_bit_piece 64, WAVE
    END_EXPR
.endm
.macro ENTRY_OF_LANE_PC low, high, divergent, function
    LOCATION \low, \high
        DW_OP_call_ref \divergent
        DW_OP_call_ref .L\function\()_active_lane_pc
    END_LOCATION
.endm

UNIT unwinding.hip
    COMMON_TYPES
    UNDEFINED_LANE_PC
    FUNCTION leaf, 2
        PARAMETER_LIST "x", 2, .Lint, .Lleaf_x_list
    END_CHILDREN
    FUNCTION inner, 6
        PARAMETER_LIST "x", 6, .Lint, .Linner_x_list
        VARIABLE_LIST "r", 8, .Lint, .Linner_r_list
        ARTIFICIAL_VARIABLE .Linner_save_exec, "__lex_1_save_exec", .Lmask, .Linner_save_exec_list
        DIVERGENT_LANE_PC .Linner_lane_pc_then, "__divergent_lane_pc_1_then", .Ldivergent_lane_pc, .Linner_join, .Linner_save_exec
    END_CHILDREN
    FUNCTION outer, 13
        PARAMETER_LIST "x", 13, .Lint, .Louter_x_list
        VARIABLE_LIST "k", 15, .Lint, .Louter_k_list
        VARIABLE_LIST "r", 16, .Lint, .Louter_r_list
        ARTIFICIAL_VARIABLE .Louter_save_exec, "__lex_1_save_exec", .Lmask, .Louter_save_exec_list
        DIVERGENT_LANE_PC .Louter_lane_pc_then, "__divergent_lane_pc_1_then", .Ldivergent_lane_pc, .Louter_join, .Louter_save_exec
    END_CHILDREN
    SUBPROGRAM unwinding, 21, DW_CC_LLVM_DeviceKernel, .Lunwinding_lane_pc_list
        PARAMETER_LIST "out", 21, .Lint_pointer, .Lout_list
        PARAMETER_LIST "in", 21, .Lconst_int_pointer, .Lin_list
        VARIABLE_LIST "i", 23, .Lint, .Lunwinding_i_list
        VARIABLE_LIST "x", 24, .Lint, .Lunwinding_x_list
        VARIABLE_LIST "r", 25, .Lint, .Lunwinding_r_list
        ARTIFICIAL_VARIABLE .Lunwinding_save_exec, "__lex_1_save_exec", .Lmask, .Lunwinding_save_exec_list
        ACTIVE_LANE_PC
        DIVERGENT_LANE_PC .Lunwinding_lane_pc_then, "__divergent_lane_pc_1_then", .Ldivergent_lane_pc, .Lunwinding_join, .Lunwinding_save_exec
    END_CHILDREN
END_UNIT

.macro IN_SGPRS low, high, first            // a mask's whole list
    LOCATION \low, \high
        SGPR_MASK \first
    END_LOCATION
    END_OF_LIST
.endm
.macro IN_EXEC_BUT low, high, first         // the active lanes: EXEC by default
    LOCATION \low, \high
        SGPR_MASK \first
    END_LOCATION
.endm
.macro ELSE_IN_EXEC
    DEFAULT_LOCATION
        DW_OP_regx DW_EXEC
    END_LOCATION
    END_OF_LIST
.endm
.macro IN_LANE low, high, register
    LOCATION \low, \high
        LANE_OF_VGPR \register
    END_LOCATION
.endm

LOCATION_LISTS
.Lleaf_lane_pc_list:
    ENTRY_OF_LANE_PC leaf, .Lleaf_end, .Ldivergent_lane_pc, leaf
    END_OF_LIST
.Lleaf_active_lane_list:
    ELSE_IN_EXEC
.Lleaf_x_list:
    IN_LANE leaf, .Lleaf_squared, 0
    END_OF_LIST
.Linner_lane_pc_list:
    ENTRY_OF_LANE_PC inner, .Linner_then, .Ldivergent_lane_pc, inner
    ENTRY_OF_LANE_PC .Linner_then, .Linner_join, .Linner_lane_pc_then, inner
    ENTRY_OF_LANE_PC .Linner_join, .Linner_end, .Ldivergent_lane_pc, inner
    END_OF_LIST
.Linner_active_lane_list:
    IN_EXEC_BUT .Linner_exec_changed, .Linner_return_saved, 36
    IN_EXEC_BUT .Linner_exec_changed_again, .Linner_exec_back, 36
    ELSE_IN_EXEC
.Linner_save_exec_list:
    IN_SGPRS .Linner_exec_saved, .Linner_end, 36
.Linner_x_list:
    IN_LANE inner, .Linner_x_kept, 0
    IN_LANE .Linner_x_kept, .Linner_exec_back, 41
    END_OF_LIST
.Linner_r_list:
    IN_LANE .Linner_r_known, .Linner_exec_back, 42
    END_OF_LIST
.Louter_lane_pc_list:
    ENTRY_OF_LANE_PC outer, .Louter_then, .Ldivergent_lane_pc, outer
    ENTRY_OF_LANE_PC .Louter_then, .Louter_join, .Louter_lane_pc_then, outer
    ENTRY_OF_LANE_PC .Louter_join, .Louter_end, .Ldivergent_lane_pc, outer
    END_OF_LIST
.Louter_active_lane_list:
    IN_EXEC_BUT .Louter_whole_wave, .Louter_normal, 34
    IN_EXEC_BUT .Louter_whole_wave_again, .Louter_normal_again, 34
    ELSE_IN_EXEC
.Louter_save_exec_list:
    IN_SGPRS .Louter_whole_wave, .Louter_end, 34
.Louter_x_list:
    IN_LANE outer, .Louter_x_kept, 0
    IN_LANE .Louter_x_kept, .Louter_end, 42
    END_OF_LIST
.Louter_k_list:
    IN_LANE .Louter_k_known, .Louter_end, 41
    END_OF_LIST
.Louter_r_list:
    IN_LANE .Louter_r_known, .Louter_end, 49
    END_OF_LIST
.Lunwinding_lane_pc_list:
    LANE_PC unwinding, .Lunwinding_then, .Ldivergent_lane_pc
    LANE_PC .Lunwinding_then, .Lunwinding_join, .Lunwinding_lane_pc_then
    LANE_PC .Lunwinding_join, .Lunwinding_end, .Ldivergent_lane_pc
    END_OF_LIST
.Lunwinding_save_exec_list:
    IN_SGPRS .Lunwinding_then, .Lunwinding_end, 48
.Lout_list:
    LOCATION .Lunwinding_arguments_loaded, .Lunwinding_end
        SGPR_PAIR 44
    END_LOCATION
    END_OF_LIST
.Lin_list:
    LOCATION .Lunwinding_arguments_loaded, .Lunwinding_end
        SGPR_PAIR 46
    END_LOCATION
    END_OF_LIST
.Lunwinding_i_list:
    IN_LANE .Lunwinding_i_known, .Lunwinding_end, 45
    END_OF_LIST
.Lunwinding_x_list:
    IN_LANE .Lunwinding_x_known, .Lunwinding_end, 47
    END_OF_LIST
.Lunwinding_r_list:
    IN_LANE .Lunwinding_r_known, .Lunwinding_end, 48
    END_OF_LIST
END_LOCATION_LISTS

// Rules that several functions share.
.macro CFA_IS register
#if WAVE == 64
    DW_CFA_LLVM_def_aspace_cfa DW_S(\register), 0, ASPACE_private_wave
#else
    DW_CFA_def_cfa_expression               // flat scratch: the register counts a lane's bytes
        DW_OP_regx DW_S(\register)
        DW_OP_deref_size 4
        DW_OP_lit 5
        DW_OP_shl
        DW_OP_lit ASPACE_private_wave
        DW_OP_LLVM_form_aspace_address
    END_CFA
#endif
.endm
.macro RETURN_IN_SGPRS
    DW_CFA_expression DW_PC
        SGPR_PAIR 30
    END_CFA
.endm
.macro EXEC_IN first
#if WAVE == 64
    DW_CFA_expression DW_EXEC
        SGPR_PAIR \first
    END_CFA
#else
    DW_CFA_register DW_EXEC, DW_S(\first)
#endif
.endm
.macro SPILLED_FOR_ACTIVE_LANES register, place
    DW_CFA_expression DW_V(\register)       // on the stack: the CFA
        DW_OP_regx DW_V(\register)          // lanes whose bit is 0
        DW_OP_swap
        DW_OP_LLVM_offset_uconst \place * WAVE
        DW_OP_LLVM_call_frame_entry_reg DW_EXEC
        DW_OP_deref_size WAVE / 8
        DW_OP_LLVM_select_bit_piece 32, WAVE
    END_CFA
.endm

CIE
    CFA_IS 32
    RETURN_IN_SGPRS
    .irp register, 4, 5, 6, 7, 8, 9, 30, 31
    DW_CFA_undefined DW_S(\register)
    .endr
    .irp register, 0, 1, 2, 3, 4, 5, 6, 7, 43
    DW_CFA_undefined DW_V(\register)
    .endr
END_CIE
FDE leaf
    DW_CFA_same_value DW_EXEC
END_FDE leaf
FDE inner
    DW_CFA_remember_state
    .irp register, 36, 37, 41
    DW_CFA_undefined DW_S(\register)
    .endr
    DW_CFA_advance_loc inner, .Linner_spilled
    SPILLED_FOR_ACTIVE_LANES 41, 0
    SPILLED_FOR_ACTIVE_LANES 42, 8
    DW_CFA_advance_loc .Linner_spilled, .Linner_exec_saved
    EXEC_IN 36
    DW_CFA_advance_loc .Linner_exec_saved, .Linner_return_saved
    DW_CFA_offset_extended DW_PC, 4 * WAVE
    DW_CFA_advance_loc .Linner_return_saved, .Linner_pointer_saved
    DW_CFA_register DW_S(33), DW_S(41)
    DW_CFA_advance_loc .Linner_pointer_saved, .Linner_framed
    CFA_IS 33
    DW_CFA_register DW_S(32), DW_S(33)
    DW_CFA_advance_loc .Linner_framed, .Linner_return_back
    DW_CFA_val_expression DW_PC             // the same place again, as a value: it has to have the PC's 64 bits
        SGPR_PAIR 30
        DW_OP_LLVM_piece_end
        DW_OP_deref
    END_CFA
    DW_CFA_advance_loc .Linner_return_back, .Linner_vgprs_back
    DW_CFA_same_value DW_V(41)
    DW_CFA_same_value DW_V(42)
    DW_CFA_advance_loc .Linner_vgprs_back, .Linner_unframed
    CFA_IS 32
    DW_CFA_same_value DW_S(32)
    DW_CFA_advance_loc .Linner_unframed, .Linner_pointer_back
    DW_CFA_restore_state                    // as on entry, but for the SGPRs that are lost
    .irp register, 36, 37, 41
    DW_CFA_undefined DW_S(\register)
    .endr
END_FDE inner
FDE outer
    .irp register, 34, 35, 36, 37, 41       // the last three are lost in inner
    DW_CFA_undefined DW_S(\register)
    .endr
    .irp register, 41, 42, 49
    DW_CFA_undefined DW_V(\register)
    .endr
    DW_CFA_remember_state
    DW_CFA_advance_loc outer, .Louter_whole_wave
    EXEC_IN 34
    DW_CFA_advance_loc .Louter_whole_wave, .Louter_v40_spilled
    DW_CFA_offset_extended DW_V(40), 0
    DW_CFA_advance_loc .Louter_v40_spilled, .Louter_saved
    DW_CFA_expression DW_PC
        DW_OP_regx DW_V(40)
        DW_OP_bit_piece 32, 0
        DW_OP_regx DW_V(40)
        DW_OP_bit_piece 32, 32
    END_CFA
    DW_CFA_expression DW_S(33)
        DW_OP_regx DW_V(40)
        DW_OP_LLVM_offset_uconst 8
    END_CFA
    DW_CFA_advance_loc .Louter_saved, .Louter_framed
#if WAVE == 64
    DW_CFA_def_cfa_register DW_S(33)        // keeps the address space
    DW_CFA_val_offset DW_S(32), 0
#else
    CFA_IS 33
    DW_CFA_register DW_S(32), DW_S(33)
#endif
    DW_CFA_advance_loc .Louter_framed, .Louter_return_back
    RETURN_IN_SGPRS
    DW_CFA_advance_loc .Louter_return_back, .Louter_unframed
    CFA_IS 32
    DW_CFA_same_value DW_S(32)
    DW_CFA_advance_loc .Louter_unframed, .Louter_pointer_back
    DW_CFA_same_value DW_S(33)
    DW_CFA_advance_loc .Louter_pointer_back, .Louter_v40_back
    DW_CFA_same_value DW_V(40)
    DW_CFA_advance_loc .Louter_v40_back, .Louter_normal_again
    DW_CFA_restore_state
END_FDE outer
FDE unwinding
    DW_CFA_def_cfa_expression
        DW_OP_lit 0
        DW_OP_lit ASPACE_private_wave
        DW_OP_LLVM_form_aspace_address
    END_CFA
    DW_CFA_undefined DW_PC
END_FDE unwinding
