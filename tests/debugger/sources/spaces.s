// Debug information that no compiler writes for kernels: memory spaces, addresses as base types, strings with a length,
// a common block, an entry point. SPACE is the code of DW_AT_LLVM_memory_space.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
        .text
        .globl whole
        .type whole,@function
        .p2align 8
whole:  s_nop 0
second: s_nop 1
        s_setpc_b64 s[30:31]
.Lend:  .size whole, .Lend-whole
user:   s_nop 2
        s_setpc_b64 s[30:31]
.Luser: .size user, .Luser-user

        .section .rodata,"a",@progbits
        .p2align 3
text:   .asciz "kernels"
length: .long 4
number: .long 42
block:  .long 7, 8
where:  .quad 64

        .section .debug_abbrev,"",@progbits
        .byte 1, 0x11, 1, 0x03, 0x08, 0x13, 0x0b, 0x11, 0x01, 0x12, 0x06, 0, 0      // unit: name, language, code
        .byte 2, 0x24, 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0                  // base type
        .byte 3, 0x0f, 0, 0x49, 0x13                                                // pointer in a memory space
        .uleb128 SPACE
        .byte 0x0b, 0, 0
        .byte 4, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18                        // variable in a memory space
        .uleb128 SPACE
        .byte 0x0b, 0, 0
        .byte 5, 0x12, 0, 0x19, 0x18, 0x70, 0x0b, 0, 0                              // string: length, its size
        .byte 6, 0x24, 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b                        // address in an address space
        .uleb128 0x3e10
        .byte 0x0b, 0, 0
        .byte 7, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0x3f, 0x19, 0, 0      // function
        .byte 8, 0x1a, 1, 0x03, 0x08, 0x02, 0x18, 0, 0                              // common block
        .byte 9, 0x03, 0, 0x03, 0x08, 0x11, 0x01, 0, 0                              // entry point
        .byte 10, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0                 // variable
        .byte 11, 0x1b, 0, 0x1a, 0x13, 0, 0                                         // common inclusion
        .byte 12, 0x12, 0, 0x19, 0x18, 0x71, 0x0b, 0, 0                             // string: length, its size in bits
        .byte 13, 0x10, 0, 0x49, 0x13, 0, 0                                         // reference
        .byte 0

        .section .debug_info,"",@progbits
.Lunit: .long .Lstop-.Lbegin
.Lbegin:.short 5
        .byte 1, 8
        .long .debug_abbrev
        .byte 1
        .asciz "spaces.cl"
        .byte 0x15
        .quad whole
        .long .Luser-whole
.Lint:  .byte 2
        .asciz "int"
        .byte 5, 4
.Llocal:.byte 3
        .long .Lint-.Lunit
        .byte 3
.Ltext: .byte 5, 9, 3
        .quad length
        .byte 4
.Lbits: .byte 12, 9, 3
        .quad length
        .byte 16
.Lrefer:.byte 13
        .long .Lint-.Lunit
.Lplain:.byte 2
        .asciz "address"
        .byte 1, 8
        .byte 10
        .asciz "text_of_bits"
        .long .Lbits-.Lunit
        .byte 9, 3
        .quad text
        .byte 10
        .asciz "nowhere"
        .long .Lrefer-.Lunit
        .byte 9, 3
        .quad where
        .byte 10
        .asciz "plain"
        .long .Lplain-.Lunit
        .byte 9, 3
        .quad where
.Laddr: .byte 6
        .asciz "shared_address"
        .byte 1, 4, 3
        .byte 4
        .asciz "number"
        .long .Lint-.Lunit
        .byte 9, 3
        .quad number
        .byte 2
        .byte 4
        .asciz "vendors"
        .long .Lint-.Lunit
        .byte 9, 3
        .quad number
        .byte 0x80
        .byte 10
        .asciz "pointer"
        .long .Llocal-.Lunit
        .byte 9, 3
        .quad where
        .byte 10
        .asciz "text"
        .long .Ltext-.Lunit
        .byte 9, 3
        .quad text
        .byte 10
        .asciz "where"
        .long .Laddr-.Lunit
        .byte 9, 3
        .quad where
        .byte 7
        .asciz "whole"
        .quad whole
        .long .Lend-whole
.Lblock:.byte 8
        .asciz "block"
        .byte 9, 3
        .quad block
        .byte 10
        .asciz "first"
        .long .Lint-.Lunit
        .byte 9, 3
        .quad block
        .byte 10
        .asciz "other"
        .long .Lint-.Lunit
        .byte 9, 3
        .quad block+4
        .byte 0
        .byte 9
        .asciz "second"
        .quad second
        .byte 0
        .byte 7
        .asciz "user"
        .quad user
        .long .Luser-user
        .byte 11
        .long .Lblock-.Lunit
        .byte 0
        .byte 0
.Lstop:
