// A function that overwrites its arguments. What they were is said by the call site (DW_TAG_call_site_parameter with
// DW_AT_call_value), and so is what the pointer pointed to at the call (DW_AT_call_data_value), which the function
// changes. The variables' own locations ask for values on entry (DW_OP_entry_value).
//
// s32 is the stack pointer, in bytes of the wave's private memory; s33 the frame pointer of the kernel, in bytes of a
// lane. The CFA is where s32 points on entry: in the wave's private memory, whatever becomes of the
// stack pointer (DW_CFA_def_cfa_offset_sf, DW_CFA_LLVM_def_aspace_cfa_sf, DW_CFA_def_cfa_register, ...).

#define SCRATCH_BYTES 32
#include "../target.inc"
#include "../dwarf.inc"

#define KERNEL_FRAME 16                     // bytes of a lane
#define WEIGH_FRAME 16
#define WEIGHTS 8                           // in the kernel's frame
#define SAVED 4                             // in that of weigh: lane 0 and 1 the return address, lane 2 s40
#define GROUP s40
#define OUT s[44:45]
#define IN s[46:47]
#if WAVE == 64
#define LOG2_WAVE 6
#define KERNARG s[4:5]
#define WORKGROUP s6
#define STORE(register, address, place) buffer_store_dword register, address, s[0:3], 0 offen offset:place
#define LOAD(register, address, place) buffer_load_dword register, address, s[0:3], 0 offen offset:place
#else
#define LOG2_WAVE 5
#define KERNARG s[0:1]
#define WORKGROUP s2
#define STORE(register, address, place) scratch_store_b32 address, register, off offset:place
#define LOAD(register, address, place) scratch_load_b32 register, address, off offset:place
#endif

.text
.p2align 8
.file 0 "." "callsites.hip"
.Lbegin:

.type weigh,@function
weigh:                                      // v0 x, v1 by, s[30:31] return address; v0 to v7 and s8 to s12 are lost
    .loc 0 5 0 is_stmt 1
    s_lshr_b32 s8, s32, LOG2_WAVE
    v_mov_b32 v2, s8
    v_writelane_b32 v3, s30, 0
    v_writelane_b32 v3, s31, 1
    v_writelane_b32 v3, s40, 2
    STORE(v3, v2, SAVED)                    // all lanes are active: those three as well
.Lweigh_saved:
    s_add_u32 s32, s32, WEIGH_FRAME * WAVE
.Lweigh_framed:
    s_mov_b32 s12, s32
.Lweigh_pointed:
    .loc 0 7 20 prologue_end
    LOAD(v4, v1, 0)                         // factor
    s_waitcnt vmcnt(0)
.Lweigh_factor_known:
    .loc 0 8 14
    v_mov_b32 v5, 0
    STORE(v5, v1, 0)
#if WAVE == 32
    s_waitcnt_vscnt null, 0x0
#endif
    .loc 0 9 13
    LOAD(v5, v1, 4)
    s_waitcnt vmcnt(0)
    v_mul_lo_u32 v1, v0, v4
.Lweigh_by_gone:
    v_mov_b32 v4, -1
.Lweigh_factor_gone:
    V_ADD v0, v1, v5
.Lweigh_y_known:
    s_mov_b32 s40, 0x5eed                   // a mark: not what the caller has in it
    .loc 0 10 3 epilogue_begin
    LOAD(v3, v2, SAVED)
    s_waitcnt vmcnt(0)
    v_readlane_b32 s30, v3, 0
    v_readlane_b32 s31, v3, 1
    v_readlane_b32 s40, v3, 2
.Lweigh_restored:
    s_mov_b32 s32, s12
.Lweigh_unpointed:
    s_sub_u32 s32, s32, WEIGH_FRAME * WAVE
.Lweigh_unframed:
    s_setpc_b64 s[30:31]
.Lweigh_end:
.size weigh, .Lweigh_end - weigh

.globl callsites
.p2align 8
.type callsites,@function
callsites:
    .loc 0 12 0
#if WAVE == 64
    s_add_u32 s0, s0, s7
    s_addc_u32 s1, s1, 0
#endif
    s_load_dwordx4 s[44:47], KERNARG, 0x0
    s_lshl_b32 s8, WORKGROUP, 6
    v_and_b32 v0, 0x3ff, v0
    s_mov_b32 s33, 0
    s_mov_b32 s32, KERNEL_FRAME * WAVE
    .loc 0 14 24 prologue_end
    V_ADD v45, s8, v0
.Li_known:
    .loc 0 15 18
    s_add_u32 GROUP, WORKGROUP, 10
.Lgroup_known:
    .loc 0 16 11
    v_lshlrev_b32 v46, 2, v45
    s_waitcnt lgkmcnt(0)
.Larguments_loaded:
    global_load_dword v47, v46, IN
    s_waitcnt vmcnt(0)
.Ln_known:
    .loc 0 17 21
    v_mov_b32 v44, s33
    v_mov_b32 v40, 3
    STORE(v40, v44, WEIGHTS)
    STORE(v45, v44, WEIGHTS + 4)
    s_waitcnt vmcnt(0)
#if WAVE == 32
    s_waitcnt_vscnt null, 0x0
#endif
.Lweights_known:
    .loc 0 18 11
    V_ADD v0, 1, v47
    V_ADD v1, WEIGHTS, v44
    s_call_b64 s[30:31], weigh
.Lreturned:
.Lr_known:
    .loc 0 19 23
    LOAD(v40, v44, WEIGHTS)
    s_waitcnt vmcnt(0)
    V_ADD v40, v0, v40
    V_ADD v40, GROUP, v40
    .loc 0 19 10 is_stmt 0
    global_store_dword v46, v40, OUT
    .loc 0 20 1 is_stmt 1
    s_endpgm
.Lcallsites_end:
.size callsites, .Lcallsites_end - callsites
.Lend:

KERNEL callsites, 48, 56

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
        ATTRIBUTE DW_AT_return_addr, DW_FORM_sec_offset
    END_ABBREVIATION
    ABBREVIATION 0x21, DW_TAG_subprogram, 1
        ATTRIBUTE DW_AT_name, DW_FORM_string
        ATTRIBUTE DW_AT_decl_file, DW_FORM_data1
        ATTRIBUTE DW_AT_decl_line, DW_FORM_data1
        ATTRIBUTE DW_AT_external, DW_FORM_flag_present
        ATTRIBUTE DW_AT_low_pc, DW_FORM_addr
        ATTRIBUTE DW_AT_high_pc, DW_FORM_data4
        ATTRIBUTE DW_AT_calling_convention, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_lanes, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_lane_pc, DW_FORM_sec_offset
        ATTRIBUTE DW_AT_frame_base, DW_FORM_exprloc
        ATTRIBUTE DW_AT_call_all_calls, DW_FORM_flag_present
    END_ABBREVIATION
    ABBREVIATION 0x22, DW_TAG_call_site, 1
        ATTRIBUTE DW_AT_call_return_pc, DW_FORM_addr
        ATTRIBUTE DW_AT_call_origin, DW_FORM_ref4
    END_ABBREVIATION
    ABBREVIATION 0x23, DW_TAG_call_site_parameter, 0
        ATTRIBUTE DW_AT_call_parameter, DW_FORM_ref4
        ATTRIBUTE DW_AT_location, DW_FORM_exprloc
        ATTRIBUTE DW_AT_call_value, DW_FORM_exprloc
    END_ABBREVIATION
    ABBREVIATION 0x24, DW_TAG_call_site_parameter, 0
        ATTRIBUTE DW_AT_call_parameter, DW_FORM_ref4
        ATTRIBUTE DW_AT_location, DW_FORM_exprloc
        ATTRIBUTE DW_AT_call_value, DW_FORM_exprloc
        ATTRIBUTE DW_AT_call_data_location, DW_FORM_exprloc
        ATTRIBUTE DW_AT_call_data_value, DW_FORM_exprloc
    END_ABBREVIATION
    ABBREVIATION 0x25, DW_TAG_pointer_type, 0
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_byte_size, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_address_space, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_memory_space, DW_FORM_data1
    END_ABBREVIATION
.endm

#include "../unit.inc"

UNIT callsites.hip
    COMMON_TYPES
    STRUCTURE_TYPE .Lweights, "Weights", 8
        MEMBER "factor", .Lint, 0
        MEMBER "offset", .Lint, 4
    END_CHILDREN
.Lweights_pointer:
    .uleb128 0x25
    REFERENCE .Lweights
    .byte 4, ASPACE_private_lane, DW_MSPACE_LLVM_private
.Lweigh:
    .uleb128 0x20
    .asciz "weigh"
    .byte 0, 5
    REFERENCE .Lint
    .quad weigh
    .long .Lweigh_end - weigh
    .byte WAVE
    .long .Lweigh_lane_pc_list
    .long .Lweigh_return_addr_list
.Lweigh_x:
        PARAMETER_LIST "x", 5, .Lint, .Lweigh_x_list
.Lweigh_by:
        PARAMETER_LIST "by", 5, .Lweights_pointer, .Lweigh_by_list
        VARIABLE_LIST "factor", 7, .Lint, .Lweigh_factor_list
        VARIABLE_LIST "y", 9, .Lint, .Lweigh_y_list
    END_CHILDREN
    .uleb128 0x21
    .asciz "callsites"
    .byte 0, 12
    .quad callsites
    .long .Lcallsites_end - callsites
    .byte DW_CC_LLVM_DeviceKernel
    .byte WAVE
    .long .Lcallsites_lane_pc_list
    EXPR                                    // DW_AT_frame_base: private memory of a lane at s33
        DW_OP_lit ASPACE_private_lane
        DW_OP_LLVM_aspace_bregx DW_S(33), 0
    END_EXPR
        PARAMETER_LIST "out", 12, .Lint_pointer, .Lout_list
        PARAMETER_LIST "in", 12, .Lconst_int_pointer, .Lin_list
        VARIABLE_LIST "i", 14, .Lint, .Li_list
        VARIABLE_LIST "group", 15, .Lint, .Lgroup_list
        VARIABLE_LIST "n", 16, .Lint, .Ln_list
        VARIABLE "weights", 17, .Lweights
            DW_OP_fbreg WEIGHTS
        END_EXPR
        VARIABLE_LIST "r", 18, .Lint, .Lr_list
        .uleb128 0x22
        .quad .Lreturned
        REFERENCE .Lweigh
            .uleb128 0x23
            REFERENCE .Lweigh_x
            EXPR
                DW_OP_regx DW_V(0)
            END_EXPR
            EXPR                            // n + 1; n is in a register that is kept
                LANE_OF_VGPR 47
                DW_OP_deref_size 4
                DW_OP_lit 1
                DW_OP_plus
            END_EXPR
            .uleb128 0x24
            REFERENCE .Lweigh_by
            EXPR
                DW_OP_regx DW_V(1)
            END_EXPR
            EXPR                            // &weights
                DW_OP_regx DW_S(33)
                DW_OP_deref_size 4
                DW_OP_plus_uconst WEIGHTS
            END_EXPR
            EXPR                            // weights
                DW_OP_fbreg WEIGHTS
            END_EXPR
            EXPR                            // {3, i}
                LANE_OF_VGPR 45
                DW_OP_deref_size 4
                DW_OP_const1u 32
                DW_OP_shl
                DW_OP_lit 3
                DW_OP_or
            END_EXPR
        END_CHILDREN
        ACTIVE_LANE_PC
        UNDEFINED_LANE_PC
    END_CHILDREN
END_UNIT

.macro ARGUMENT_IN_LANE register            // the lane's dword of a vector register on entry
    DW_OP_entry_value
        LANE_OF_VGPR \register
        DW_OP_deref_size 4
    END_ENTRY_VALUE
.endm

LOCATION_LISTS
.Lweigh_lane_pc_list:
    LANE_PC weigh, .Lweigh_end, .Ldivergent_lane_pc
    END_OF_LIST
.Lcallsites_lane_pc_list:
    LANE_PC callsites, .Lcallsites_end, .Ldivergent_lane_pc
    END_OF_LIST
.Lweigh_return_addr_list:
    LOCATION .Lweigh_saved, .Lweigh_restored
        DW_OP_call_frame_cfa
        DW_OP_LLVM_offset_uconst SAVED * WAVE
    END_LOCATION
    END_OF_LIST
.Lweigh_x_list:
    LOCATION weigh, .Lweigh_y_known
        LANE_OF_VGPR 0
    END_LOCATION
    DEFAULT_LOCATION
        ARGUMENT_IN_LANE 0
        DW_OP_stack_value
    END_LOCATION
    END_OF_LIST
.Lweigh_by_list:
    LOCATION weigh, .Lweigh_by_gone
        LANE_OF_VGPR 1
    END_LOCATION
    DEFAULT_LOCATION
        ARGUMENT_IN_LANE 1
        DW_OP_stack_value
    END_LOCATION
    END_OF_LIST
.Lweigh_factor_list:
    LOCATION .Lweigh_factor_known, .Lweigh_factor_gone
        LANE_OF_VGPR 4
    END_LOCATION
    LOCATION .Lweigh_factor_gone, .Lweigh_end
        DW_OP_entry_value                   // what the pointer pointed to at the call
            LANE_OF_VGPR 1
            DW_OP_deref_size 4
            DW_OP_lit ASPACE_private_lane
            DW_OP_LLVM_form_aspace_address
            DW_OP_deref_size 4
        END_ENTRY_VALUE
        DW_OP_stack_value
    END_LOCATION
    END_OF_LIST
.Lweigh_y_list:
    LOCATION .Lweigh_y_known, .Lweigh_end
        LANE_OF_VGPR 0
    END_LOCATION
    END_OF_LIST
.Lout_list:
    LOCATION .Larguments_loaded, .Lcallsites_end
        SGPR_PAIR 44
    END_LOCATION
    END_OF_LIST
.Lin_list:
    LOCATION .Larguments_loaded, .Lcallsites_end
        SGPR_PAIR 46
    END_LOCATION
    END_OF_LIST
.Li_list:
    LOCATION .Li_known, .Lcallsites_end
        LANE_OF_VGPR 45
    END_LOCATION
    END_OF_LIST
.Lgroup_list:
    LOCATION .Lgroup_known, .Lcallsites_end
        DW_OP_regx DW_S(40)
    END_LOCATION
    END_OF_LIST
.Ln_list:
    LOCATION .Ln_known, .Lcallsites_end
        LANE_OF_VGPR 47
    END_LOCATION
    END_OF_LIST
.Lr_list:
    LOCATION .Lr_known, .Lcallsites_end
        LANE_OF_VGPR 0
    END_LOCATION
    END_OF_LIST
END_LOCATION_LISTS

CIE
    DW_CFA_LLVM_def_aspace_cfa DW_S(32), 0, ASPACE_private_wave
    DW_CFA_expression DW_PC
        SGPR_PAIR 30
    END_CFA
    .irp register, 8, 12, 30, 31
    DW_CFA_undefined DW_S(\register)
    .endr
    .irp register, 0, 1, 2, 3, 4, 5
    DW_CFA_undefined DW_V(\register)
    .endr
END_CIE
FDE weigh
    DW_CFA_advance_loc weigh, .Lweigh_saved
    DW_CFA_offset DW_PC, SAVED * WAVE
    DW_CFA_offset_extended_sf DW_S(40), SAVED * WAVE + 8
    DW_CFA_advance_loc .Lweigh_saved, .Lweigh_framed
    DW_CFA_def_cfa_offset_sf -WEIGH_FRAME * WAVE
    DW_CFA_val_offset_sf DW_S(32), 0        // the caller's stack pointer is the CFA
    DW_CFA_advance_loc .Lweigh_framed, .Lweigh_pointed
    DW_CFA_LLVM_def_aspace_cfa_sf DW_S(12), -WEIGH_FRAME * WAVE, ASPACE_private_wave
    DW_CFA_advance_loc .Lweigh_pointed, .Lweigh_restored
    DW_CFA_restore DW_PC
    DW_CFA_restore_extended DW_S(40)
    DW_CFA_advance_loc .Lweigh_restored, .Lweigh_unpointed
    DW_CFA_def_cfa_register DW_S(32)        // keeps displacement and address space
    DW_CFA_advance_loc .Lweigh_unpointed, .Lweigh_unframed
    DW_CFA_def_cfa_offset 0
    DW_CFA_restore_extended DW_S(32)
END_FDE weigh
FDE callsites
    DW_CFA_def_cfa_expression
        DW_OP_lit 0
        DW_OP_lit ASPACE_private_wave
        DW_OP_LLVM_form_aspace_address
    END_CFA
    DW_CFA_undefined DW_PC
END_FDE callsites
