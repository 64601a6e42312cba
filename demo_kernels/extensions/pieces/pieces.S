// One struct, a member in each kind of place: an SGPR, a VGPR's lane, LDS, scratch, a constant that is computed, one
// that is given as bytes, and nowhere. Beside it an array that is one register four times (DW_OP_LLVM_extend) and
// an int put together from bit pieces of two registers.

#define SCRATCH_BYTES 16
#include "../target.inc"
#include "../dwarf.inc"

#define I v0
#define OFFSET v1
#define VECTOR v2
#define SUM v3
#define TEMPORARY v4
#define SHARED v5
#define SCALAR s10
#define LOW_BITS s11
#if WAVE == 64
#define KERNARG s[4:5]
#define WORKGROUP s6
#define OUT s[12:13]
#define IN s[14:15]
#else
#define KERNARG s[0:1]
#define WORKGROUP s2
#define OUT s[12:13]
#define IN s[14:15]
#endif

.text
.globl pieces
.p2align 8
.type pieces,@function
.file 0 "." "pieces.hip"
.Lbegin:
pieces:
    .loc 0 5 0 is_stmt 1
#if WAVE == 64
    s_add_u32 s0, s0, s7                    // s[0:3] scratch buffer, s7 this wave's part of it
    s_addc_u32 s1, s1, 0
#endif
    s_load_dwordx4 s[12:15], KERNARG, 0x0
    s_lshl_b32 s8, WORKGROUP, 6
    v_and_b32 v0, 0x3ff, v0
    v_lshlrev_b32 SHARED, 2, v0             // LDS address of the lane's dword
    .loc 0 7 24 prologue_end
    V_ADD I, s8, v0
.Li_known:
    v_lshlrev_b32 OFFSET, 2, I
    s_waitcnt lgkmcnt(0)
    .loc 0 9 18
    s_load_dwordx2 s[10:11], IN, 0x0
    s_waitcnt lgkmcnt(0)
.Lscalar_known:
    .loc 0 10 18
    global_load_dword VECTOR, OFFSET, IN
    s_waitcnt vmcnt(0)
.Lvector_known:
    .loc 0 11 18
    v_mul_lo_u32 TEMPORARY, VECTOR, 3
    ds_write_b32 SHARED, TEMPORARY offset:16
    s_waitcnt lgkmcnt(0)
.Lshared_known:
    .loc 0 12 19
    V_ADD TEMPORARY, -1, VECTOR
#if WAVE == 64
    buffer_store_dword TEMPORARY, off, s[0:3], 0 offset:8
#else
    scratch_store_b32 off, TEMPORARY, off offset:8
#endif
    s_waitcnt vmcnt(0)
.Lscratch_known:
    .loc 0 16 23
    s_and_b32 LOW_BITS, LOW_BITS, 15
.Lall_known:
    .loc 0 17 14
    ds_read_b32 SUM, SHARED offset:16
    s_waitcnt lgkmcnt(0)
#if WAVE == 64
    buffer_load_dword TEMPORARY, off, s[0:3], 0 offset:8
#else
    scratch_load_b32 TEMPORARY, off, off offset:8
#endif
    s_waitcnt vmcnt(0)
    V_ADD SUM, SUM, TEMPORARY
    V_ADD SUM, SUM, VECTOR
    V_ADD SUM, SCALAR, SUM
    .loc 0 18 10
    V_ADD SUM, 1042, SUM
    V_ADD SUM, SCALAR, SUM
    v_lshl_or_b32 TEMPORARY, VECTOR, 4, LOW_BITS
    V_ADD SUM, SUM, TEMPORARY
    global_store_dword OFFSET, SUM, OUT
    .loc 0 19 1
    s_endpgm
.Lpieces_end:
.size pieces, .Lpieces_end - pieces
.Lend:

KERNEL pieces, 8, 24, 512

.macro OWN_ABBREVIATIONS
.endm

#include "../unit.inc"

UNIT pieces.hip
    COMMON_TYPES
    STRUCTURE_TYPE .Lparts, "Parts", 28
        MEMBER "scalar", .Lint, 0
        MEMBER "vector", .Lint, 4
        MEMBER "shared", .Lint, 8
        MEMBER "scratch", .Lint, 12
        MEMBER "constant", .Lint, 16
        MEMBER "literal", .Lint, 20
        MEMBER "lost", .Lint, 24
    END_CHILDREN
    ARRAY_TYPE .Lquad, .Lint, 4
    SUBPROGRAM pieces, 5, DW_CC_LLVM_DeviceKernel, .Llane_pc_list
        PARAMETER_LIST "out", 5, .Lint_pointer, .Lout_list
        PARAMETER_LIST "in", 5, .Lconst_int_pointer, .Lin_list
        VARIABLE_LIST "i", 7, .Lint, .Li_list
        VARIABLE_LIST "parts", 8, .Lparts, .Lparts_list
        VARIABLE_LIST "quad", 15, .Lquad, .Lquad_list
        VARIABLE_LIST "nibbles", 16, .Lint, .Lnibbles_list
        ACTIVE_LANE_PC
        UNDEFINED_LANE_PC
    END_CHILDREN
END_UNIT

.macro PART_OF_LDS
    DW_OP_regx DW_V(5)                      // an address per lane
    DW_OP_LLVM_push_lane
    DW_OP_lit 4
    DW_OP_mul
    DW_OP_LLVM_offset
    DW_OP_deref_size 4
    DW_OP_plus_uconst 16
    DW_OP_lit ASPACE_local
    DW_OP_LLVM_form_aspace_address
    DW_OP_piece 4
.endm
.macro CONSTANT_PARTS
    DW_OP_lit 21
    DW_OP_lit 2
    DW_OP_mul
    DW_OP_stack_value
    DW_OP_piece 4
    DW_OP_implicit_value 1000
    DW_OP_piece 4
    DW_OP_piece 4                           // nowhere: an empty piece is undefined
.endm

LOCATION_LISTS
.Llane_pc_list:
    LANE_PC pieces, .Lpieces_end, .Ldivergent_lane_pc
    END_OF_LIST
.Lout_list:
    LOCATION .Lscalar_known, .Lpieces_end
        SGPR_PAIR 12
    END_LOCATION
    END_OF_LIST
.Lin_list:
    LOCATION .Lscalar_known, .Lpieces_end
        SGPR_PAIR 14
    END_LOCATION
    END_OF_LIST
.Li_list:
    LOCATION .Li_known, .Lpieces_end
        LANE_OF_VGPR 0
    END_LOCATION
    END_OF_LIST
.Lparts_list:
    LOCATION .Lscalar_known, .Lvector_known // only the first member has a value yet
        DW_OP_regx DW_S(10)
        DW_OP_piece 4
        DW_OP_piece 24
    END_LOCATION
    LOCATION .Lscratch_known, .Lpieces_end
        DW_OP_regx DW_S(10)
        DW_OP_piece 4
        LANE_OF_VGPR 2
        DW_OP_piece 4
        PART_OF_LDS
        DW_OP_lit 8
        DW_OP_lit ASPACE_private_lane
        DW_OP_LLVM_form_aspace_address
        DW_OP_piece 4
        CONSTANT_PARTS
    END_LOCATION
    END_OF_LIST
.Lquad_list:
    LOCATION .Lscalar_known, .Lpieces_end
        DW_OP_regx DW_S(10)
        DW_OP_LLVM_extend 32, 4
    END_LOCATION
    END_OF_LIST
.Lnibbles_list:
    LOCATION .Lall_known, .Lpieces_end
        DW_OP_regx DW_S(11)
        DW_OP_bit_piece 4, 0
        LANE_OF_VGPR 2
        DW_OP_bit_piece 28, 0
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
FDE pieces
END_FDE pieces
