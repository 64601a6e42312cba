// Types that are more than a size: a vector as a base type (DW_AT_LLVM_vector_size), with which expressions calculate;
// arrays behind a descriptor that is not in memory, with data location, number of elements, rank, and whether
// there are any, as expressions of the descriptor (DW_OP_push_object_address); a pointer to member that
// knows how to find the member (DW_AT_use_location). A nibble that is still in a register lies over an
// int that is in another (DW_OP_LLVM_bit_overlay), and a constant has no place (DW_AT_const_value, DW_OP_call4).

#include "../target.inc"
#include "../dwarf.inc"

#define I v0
#define OFFSET v1                           // bytes into `in`
#define V v[4:7]
#define TEMPORARY v8
#define NIBBLE v9
#define DATA_LOW v10
#define DATA_HIGH v11
#define COUNT v12
#define MEMBER v13
#define SUM v14
#define PLACE v15
#define FLAGS s16
#if WAVE == 64
#define V_ADD_CARRY v_addc_co_u32
#else
#define V_ADD_CARRY v_add_co_ci_u32
#endif

.text
.globl types
.p2align 8
.type types,@function
.file 0 "." "types.hip"
.Lbegin:
types:                                      // s[0:1] kernarg segment, s2 workgroup, v0 work-item
    .loc 0 6 0 is_stmt 1
    s_load_dwordx4 s[12:15], s[0:1], 0x0
    s_lshl_b32 s2, s2, 6
    v_and_b32 v0, 0x3ff, v0
    .loc 0 8 24 prologue_end
    V_ADD I, s2, v0
.Li_known:
    v_lshlrev_b32 OFFSET, 4, I
    s_waitcnt lgkmcnt(0)
.Larguments_loaded:
    .loc 0 11 12
    global_load_dwordx4 V, OFFSET, s[14:15]
    s_waitcnt vmcnt(0)
.Lv_known:
    .loc 0 14 33
    s_mov_b32 FLAGS, 0x12345078
    v_and_b32 NIBBLE, 15, I
.Lflags_known:
    .loc 0 15 14
    v_mov_b32 TEMPORARY, s15
    v_add_co_u32 DATA_LOW, VCC, s14, OFFSET
    V_ADD_CARRY DATA_HIGH, VCC, 0, TEMPORARY, VCC
    v_and_b32 COUNT, 3, I
    V_ADD COUNT, 1, COUNT
.Lrow_known:
    .loc 0 20 23
    v_and_b32 MEMBER, 1, I
    v_lshlrev_b32 MEMBER, 2, MEMBER
.Lmember_known:
    .loc 0 23 9
    v_mov_b32 SUM, v4
    v_cmp_lt_u32 VCC, 1, COUNT
    v_cndmask_b32 TEMPORARY, 0, v5, VCC
    V_ADD SUM, SUM, TEMPORARY
    v_cmp_lt_u32 VCC, 2, COUNT
    v_cndmask_b32 TEMPORARY, 0, v6, VCC
    V_ADD SUM, SUM, TEMPORARY
    v_cmp_lt_u32 VCC, 3, COUNT
    v_cndmask_b32 TEMPORARY, 0, v7, VCC
    V_ADD SUM, SUM, TEMPORARY
.Lsum_known:
    .loc 0 24 16
    v_cmp_eq_u32 VCC, 0, MEMBER
    v_cndmask_b32 TEMPORARY, v7, v4, VCC
    V_ADD TEMPORARY, SUM, TEMPORARY
    v_lshl_or_b32 PLACE, NIBBLE, 8, FLAGS
    V_ADD TEMPORARY, TEMPORARY, PLACE
    V_ADD TEMPORARY, 7, TEMPORARY
    v_lshlrev_b32 PLACE, 2, I
    .loc 0 24 10 is_stmt 0
    global_store_dword PLACE, TEMPORARY, s[12:13]
    .loc 0 25 1 is_stmt 1
    s_endpgm
.Ltypes_end:
.size types, .Ltypes_end - types
.Lend:

KERNEL types, 16, 24

.macro OWN_ABBREVIATIONS
    ABBREVIATION 0x20, DW_TAG_base_type, 0
        ATTRIBUTE DW_AT_name, DW_FORM_string
        ATTRIBUTE DW_AT_encoding, DW_FORM_data1
        ATTRIBUTE DW_AT_byte_size, DW_FORM_data1
        ATTRIBUTE DW_AT_LLVM_vector_size, DW_FORM_data1
    END_ABBREVIATION
    ABBREVIATION 0x21, DW_TAG_array_type, 1
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_allocated, DW_FORM_exprloc
        ATTRIBUTE DW_AT_associated, DW_FORM_exprloc
        ATTRIBUTE DW_AT_data_location, DW_FORM_exprloc
    END_ABBREVIATION
    ABBREVIATION 0x22, DW_TAG_subrange_type, 0
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_lower_bound, DW_FORM_data1
        ATTRIBUTE DW_AT_upper_bound, DW_FORM_exprloc
    END_ABBREVIATION
    ABBREVIATION 0x23, DW_TAG_array_type, 1
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_rank, DW_FORM_exprloc
        ATTRIBUTE DW_AT_data_location, DW_FORM_exprloc
    END_ABBREVIATION
    ABBREVIATION 0x24, DW_TAG_generic_subrange, 0
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_count, DW_FORM_exprloc
    END_ABBREVIATION
    ABBREVIATION 0x25, DW_TAG_ptr_to_member_type, 0
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_containing_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_byte_size, DW_FORM_data1
        ATTRIBUTE DW_AT_use_location, DW_FORM_exprloc
    END_ABBREVIATION
    ABBREVIATION 0x26, DW_TAG_variable, 0
        ATTRIBUTE DW_AT_name, DW_FORM_string
        ATTRIBUTE DW_AT_decl_file, DW_FORM_data1
        ATTRIBUTE DW_AT_decl_line, DW_FORM_data1
        ATTRIBUTE DW_AT_type, DW_FORM_ref4
        ATTRIBUTE DW_AT_const_value, DW_FORM_data4
    END_ABBREVIATION
.endm

#include "../unit.inc"

UNIT types.hip
    COMMON_TYPES
    BASE_TYPE .Lunsigned, "unsigned int", DW_ATE_unsigned, 4
    BASE_TYPE .Lfloat, "float", DW_ATE_float, 4
.Lint4:
    .uleb128 0x20
    .asciz "int4"
    .byte DW_ATE_signed, 4, 4               // 4 bytes an element, 4 elements
    STRUCTURE_TYPE .Lpair, "Pair", 8
        MEMBER "first", .Lint, 0
        MEMBER "second", .Lint, 4
    END_CHILDREN
.Lrow:                                      // its objects: where the elements are (8 bytes), how many there are (4)
    .uleb128 0x21
    REFERENCE .Lint
    EXPR                                    // DW_AT_allocated: the capacity is not 0
        DW_OP_push_object_address
        DW_OP_LLVM_offset_uconst 12
        DW_OP_deref_size 4
    END_EXPR
    EXPR                                    // DW_AT_associated: the pointer is not null
        DW_OP_push_object_address
        DW_OP_deref
    END_EXPR
    EXPR                                    // DW_AT_data_location: what the pointer points to
        DW_OP_push_object_address
        DW_OP_deref
    END_EXPR
        .uleb128 0x22
        REFERENCE .Lint
        .byte 0
        EXPR                                // DW_AT_upper_bound
            DW_OP_push_object_address
            DW_OP_LLVM_offset_uconst 8
            DW_OP_deref_size 4
            DW_OP_lit 1
            DW_OP_minus
        END_EXPR
    END_CHILDREN
.Ltable:                                    // its objects: where, how many dimensions (4 bytes), how many in each (4)
    .uleb128 0x23
    REFERENCE .Lint
    EXPR                                    // DW_AT_rank
        DW_OP_push_object_address
        DW_OP_LLVM_offset_uconst 8
        DW_OP_deref_size 4
    END_EXPR
    EXPR                                    // DW_AT_data_location
        DW_OP_push_object_address
        DW_OP_deref
    END_EXPR
        .uleb128 0x24
        REFERENCE .Lint
        EXPR                                // DW_AT_count, with the dimension on the stack
            DW_OP_lit 4
            DW_OP_mul
            DW_OP_push_object_address
            DW_OP_swap
            DW_OP_LLVM_offset
            DW_OP_LLVM_offset_uconst 12
            DW_OP_deref_size 4
        END_EXPR
    END_CHILDREN
.Lmember_pointer:
    .uleb128 0x25
    REFERENCE .Lint
    REFERENCE .Lpair
    .byte 4
    EXPR                                    // with the pointer's value and the object on the stack
        DW_OP_swap
        DW_OP_LLVM_offset
    END_EXPR
    SUBPROGRAM types, 6, DW_CC_LLVM_DeviceKernel, .Llane_pc_list
        PARAMETER_LIST "out", 6, .Lint_pointer, .Lout_list
        PARAMETER_LIST "in", 6, .Lconst_int_pointer, .Lin_list
        VARIABLE_LIST "i", 8, .Lint, .Li_list
.Lscale:
        .uleb128 0x26
        .asciz "scale"
        .byte 0, 9
        REFERENCE .Lconst_int
        .long 3
        VARIABLE "next", 10, .Lint
            DW_OP_call4 .Lscale             // an implicit location
            DW_OP_deref_type 4, .Lint
            DW_OP_const_type_dword .Lint, 4
            DW_OP_plus
            DW_OP_stack_value
        END_EXPR
.Lv_variable:
        VARIABLE_LIST "v", 11, .Lint4, .Lv_list
        VARIABLE_LIST "twice", 12, .Lint4, .Ltwice_list
        VARIABLE_LIST "quarter", 13, .Lfloat, .Lquarter_list
        VARIABLE_LIST "flags", 14, .Lunsigned, .Lflags_list
        VARIABLE_LIST "row", 15, .Lrow, .Lrow_list
        VARIABLE "spare", 16, .Lrow         // room for nothing
            DW_OP_piece 12
            DW_OP_implicit_value 0
            DW_OP_piece 4
        END_EXPR
        VARIABLE "unset", 17, .Lrow         // room for 4, but nothing there
            DW_OP_lit 0
            DW_OP_stack_value
            DW_OP_piece 8
            DW_OP_implicit_value 0
            DW_OP_piece 4
            DW_OP_implicit_value 4
            DW_OP_piece 4
        END_EXPR
        VARIABLE_LIST "table", 18, .Ltable, .Ltable_list
        VARIABLE_LIST "pair", 19, .Lpair, .Lpair_list
        VARIABLE_LIST "member", 20, .Lmember_pointer, .Lmember_list
        VARIABLE_LIST "sum", 21, .Lint, .Lsum_list
        ACTIVE_LANE_PC
        UNDEFINED_LANE_PC
    END_CHILDREN
END_UNIT

.macro DATA_POINTER                         // 8 bytes, in two vector registers
    LANE_OF_VGPR 10
    DW_OP_piece 4
    LANE_OF_VGPR 11
    DW_OP_piece 4
.endm

LOCATION_LISTS
.Llane_pc_list:
    LANE_PC types, .Ltypes_end, .Ldivergent_lane_pc
    END_OF_LIST
.Lout_list:
    LOCATION .Larguments_loaded, .Ltypes_end
        SGPR_PAIR 12
    END_LOCATION
    END_OF_LIST
.Lin_list:
    LOCATION .Larguments_loaded, .Ltypes_end
        SGPR_PAIR 14
    END_LOCATION
    END_OF_LIST
.Li_list:
    LOCATION .Li_known, .Ltypes_end
        LANE_OF_VGPR 0
    END_LOCATION
    END_OF_LIST
.Lv_list:
    LOCATION .Lv_known, .Ltypes_end
        LANE_OF_VGPR 4
        DW_OP_piece 4
        LANE_OF_VGPR 5
        DW_OP_piece 4
        LANE_OF_VGPR 6
        DW_OP_piece 4
        LANE_OF_VGPR 7
        DW_OP_piece 4
    END_LOCATION
    END_OF_LIST
.Ltwice_list:
    LOCATION .Lv_known, .Ltypes_end
        DW_OP_call4 .Lv_variable
        DW_OP_deref_type 16, .Lint4
        DW_OP_dup
        DW_OP_plus                          // of each element
        DW_OP_stack_value
    END_LOCATION
    END_OF_LIST
.Lquarter_list:
    LOCATION .Lv_known, .Ltypes_end
        LANE_OF_VGPR 4
        DW_OP_deref_type 4, .Lint
        DW_OP_convert .Lfloat
        DW_OP_const_type_dword .Lfloat, 0x40800000
        DW_OP_div
        DW_OP_stack_value
    END_LOCATION
    END_OF_LIST
.Lflags_list:
    LOCATION .Lflags_known, .Ltypes_end
        DW_OP_regx DW_S(16)                 // the base
        LANE_OF_VGPR 9                      // what lies over it
        DW_OP_lit 8                         // from bit 8 on
        DW_OP_lit 4                         // 4 bits
        DW_OP_LLVM_bit_overlay
    END_LOCATION
    END_OF_LIST
.Lrow_list:
    LOCATION .Lrow_known, .Ltypes_end
        DATA_POINTER
        LANE_OF_VGPR 12
        DW_OP_piece 4
        DW_OP_implicit_value 4
        DW_OP_piece 4
    END_LOCATION
    END_OF_LIST
.Ltable_list:
    LOCATION .Lrow_known, .Ltypes_end
        DATA_POINTER
        DW_OP_implicit_value 2
        DW_OP_LLVM_extend 32, 3             // the rank, and twice a number of elements
        DW_OP_piece 12
    END_LOCATION
    END_OF_LIST
.Lpair_list:
    LOCATION .Lv_known, .Ltypes_end
        LANE_OF_VGPR 4
        DW_OP_piece 4
        LANE_OF_VGPR 7
        DW_OP_piece 4
    END_LOCATION
    END_OF_LIST
.Lmember_list:
    LOCATION .Lmember_known, .Ltypes_end
        LANE_OF_VGPR 13
    END_LOCATION
    END_OF_LIST
.Lsum_list:
    LOCATION .Lsum_known, .Ltypes_end
        LANE_OF_VGPR 14
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
FDE types
END_FDE types
