// Two subprograms with another entry each: those of "whole" are kernels, that of "called" is called.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
        .text
        .macro kernel name
        .globl \name
        .type \name,@function
        .rodata
        .amdhsa_kernel \name
          .amdhsa_next_free_vgpr 8
          .amdhsa_next_free_sgpr 64
          .amdhsa_accum_offset 8
        .end_amdhsa_kernel
        .text
        .endm

        kernel whole
        kernel second
        kernel caller
        .p2align 8
whole:  s_nop 0
        .p2align 8
second: s_nop 1
inside: s_nop 2
        s_endpgm
.Lend:  .size whole, .Lend-whole
        .size second, .Lend-second
        .p2align 8
called: s_nop 0
middle: s_nop 1
within: s_nop 2
        s_setpc_b64 s[30:31]
.Lback: .size called, .Lback-called
        .type called,@function
        .p2align 8
caller: s_getpc_b64 s[4:5]
.Lhere: s_sub_u32 s4, s4, .Lhere-middle
        s_subb_u32 s5, s5, 0
        s_swappc_b64 s[30:31], s[4:5]
.Lreturn:
        s_endpgm
.Lstop: .size caller, .Lstop-caller

        .section .debug_abbrev,"",@progbits
        .byte 1, 0x11, 1, 0x03, 0x08, 0x13, 0x0b, 0x11, 0x01, 0x12, 0x06, 0, 0      // unit: name, language, code
        .byte 2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0x3f, 0x19            // function: lanes, active lanes
        .uleb128 0x3e0a
        .byte 0x0b
        .uleb128 0x3e08
        .byte 0x18, 0, 0
        .byte 3, 0x03, 1, 0x03, 0x08, 0x11, 0x01                                    // entry point
        .uleb128 0x3e0a
        .byte 0x0b
        .uleb128 0x3e08
        .byte 0x18, 0, 0
        .byte 4, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0x3f, 0x19, 0, 0      // function
        .byte 5, 0x48, 0, 0x7d, 0x01, 0x7f, 0x13, 0, 0                              // call site: return, origin
        .byte 6, 0x05, 0, 0x03, 0x08, 0x49, 0x13, 0x1c, 0x0b, 0, 0                  // parameter: type, constant
        .byte 7, 0x24, 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0                  // base type
        .byte 0

        .section .debug_info,"",@progbits
.Lunit: .long .Lunitend-.Lbegin
.Lbegin:.short 5
        .byte 1, 8
        .long .debug_abbrev
        .byte 1
        .asciz "entries.cl"
        .byte 0x15
        .quad whole
        .long .Lstop-whole
.Lint:  .byte 7
        .asciz "int"
        .byte 5, 4
        .macro subprogram name, end, other
        .byte 2
        .asciz "\name"
        .quad \name
        .long \end-\name
        .byte 64
        .byte 4, 0x0a, 0xff, 0x0f, 0x9f                                              // lanes 0 to 11
        .byte 6
        .asciz "of_\name"
        .long .Lint-.Lunit
        .byte 1
.L\other:
        .byte 3
        .asciz "\other"
        .quad \other
        .byte 32
        .byte 4, 0x0a, 0x0f, 0x00, 0x9f                                              // lanes 0 to 3
        .byte 6
        .asciz "of_\other"
        .long .Lint-.Lunit
        .byte 2
        .byte 0
        .byte 0
        .endm
        subprogram whole, .Lend, second
        subprogram called, .Lback, middle
        .byte 4
        .asciz "caller"
        .quad caller
        .long .Lstop-caller
        .byte 5
        .quad .Lreturn
        .long .Lmiddle-.Lunit
        .byte 0
        .byte 0
.Lunitend:
