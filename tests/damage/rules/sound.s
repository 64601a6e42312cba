// Debug information of the extensions that breaks no rule. Code is at 0x1000 to 0x1100; nothing has to be relocated.
	.section .debug_abbrev,"",@progbits
.Labbrev:
	.uleb128 1                              // compile unit
	.uleb128 0x11
	.byte 1
	.uleb128 0x03                           // name: string
	.uleb128 0x08
	.uleb128 0x25                           // producer
	.uleb128 0x08
	.uleb128 0x3e09                         // augmentation
	.uleb128 0x08
	.uleb128 0x13                           // language
	.uleb128 0x0b
	.uleb128 0x10                           // stmt_list
	.uleb128 0x17
	.uleb128 0x11                           // low_pc
	.uleb128 0x01
	.uleb128 0x55                           // ranges
	.uleb128 0x17
	.uleb128 0x73                           // addr_base
	.uleb128 0x17
	.byte 0, 0
	.uleb128 2                              // base type: name, encoding, size
	.uleb128 0x24
	.byte 0
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x3e
	.uleb128 0x0b
	.uleb128 0x0b
	.uleb128 0x0b
	.byte 0, 0
	.uleb128 3                              // vector base type
	.uleb128 0x24
	.byte 0
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x3e
	.uleb128 0x0b
	.uleb128 0x0b
	.uleb128 0x0b
	.uleb128 0x3e0c                         // vector_size
	.uleb128 0x0b
	.byte 0, 0
	.uleb128 4                              // pointer: type, size, address space, memory space
	.uleb128 0x0f
	.byte 0
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x0b
	.uleb128 0x0b
	.uleb128 0x3e10
	.uleb128 0x0b
	.uleb128 0x3e0f
	.uleb128 0x0b
	.byte 0, 0
	.uleb128 5                              // address base type
	.uleb128 0x24
	.byte 0
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x3e
	.uleb128 0x0b
	.uleb128 0x0b
	.uleb128 0x0b
	.uleb128 0x3e10
	.uleb128 0x0b
	.byte 0, 0
	.uleb128 6                              // structure
	.uleb128 0x13
	.byte 1
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x0b
	.uleb128 0x0b
	.byte 0, 0
	.uleb128 7                              // member
	.uleb128 0x0d
	.byte 0
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x38
	.uleb128 0x18
	.byte 0, 0
	.uleb128 8                              // virtual function
	.uleb128 0x2e
	.byte 0
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x4c
	.uleb128 0x0b
	.uleb128 0x4d
	.uleb128 0x18
	.uleb128 0x3c
	.uleb128 0x19
	.byte 0, 0
	.uleb128 9                              // pointer to member
	.uleb128 0x1f
	.byte 0
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x1d
	.uleb128 0x13
	.uleb128 0x4a
	.uleb128 0x18
	.byte 0, 0
	.uleb128 10                             // array: type, data location
	.uleb128 0x01
	.byte 0
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x50
	.uleb128 0x18
	.byte 0, 0
	.uleb128 11                             // function
	.uleb128 0x2e
	.byte 1
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x3a
	.uleb128 0x0b
	.uleb128 0x3b
	.uleb128 0x0b
	.uleb128 0x11
	.uleb128 0x01
	.uleb128 0x12
	.uleb128 0x01
	.uleb128 0x3e0a                         // lanes
	.uleb128 0x0b
	.uleb128 0x3e0a                         // iterations
	.uleb128 0x18
	.uleb128 0x3e0b                         // lane_pc
	.uleb128 0x18
	.uleb128 0x3e08                         // active_lane
	.uleb128 0x18
	.uleb128 0x40                           // frame_base
	.uleb128 0x18
	.uleb128 0x2a                           // return_addr
	.uleb128 0x18
	.uleb128 0x48                           // static_link
	.uleb128 0x18
	.byte 0, 0
	.uleb128 12                             // variable: name, type, location
	.uleb128 0x34
	.byte 0
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x02
	.uleb128 0x18
	.byte 0, 0
	.uleb128 13                             // variable: location list
	.uleb128 0x34
	.byte 0
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x02
	.uleb128 0x17
	.byte 0, 0
	.uleb128 14                             // call site
	.uleb128 0x48
	.byte 1
	.uleb128 0x7d
	.uleb128 0x01
	.uleb128 0x83                           // call_target
	.uleb128 0x18
	.byte 0, 0
	.uleb128 15                             // its parameter: location, value, data location, data value
	.uleb128 0x49
	.byte 0
	.uleb128 0x02
	.uleb128 0x18
	.uleb128 0x7e
	.uleb128 0x18
	.uleb128 0x85
	.uleb128 0x18
	.uleb128 0x86
	.uleb128 0x18
	.uleb128 0x80                           // call_parameter
	.uleb128 0x13
	.byte 0, 0
	.uleb128 16                             // formal parameter
	.uleb128 0x05
	.byte 0
	.uleb128 0x03
	.uleb128 0x08
	.uleb128 0x49
	.uleb128 0x13
	.byte 0, 0
	.uleb128 17                             // outer function
	.uleb128 0x2e
	.byte 1
	.uleb128 0x03
	.uleb128 0x08
	.byte 0, 0
	.byte 0

	.section .debug_info,"",@progbits
.Linfo:
	.long .Linfo_end-.Linfo-4
	.short 5
	.byte 1, 8
	.long .Labbrev-.Labbrev
.Lunit:
	.uleb128 1
	.asciz "r.c"
	.asciz "by hand"
	.asciz "[amdgpu:v0.0]"
	.byte 0x0c
	.long 0                                 // stmt_list
	.quad 0
	.long .Lranges-.Lrnglists+12
	.long 8                                 // addr_base
.Lint:
	.uleb128 2
	.asciz "int"
	.byte 5, 4
.Llong:
	.uleb128 2
	.asciz "long"
	.byte 5, 8
.Lvector:
	.uleb128 3
	.asciz "vec"
	.byte 5, 4, 2
.Lpointer:
	.uleb128 4
	.long .Lint-.Linfo
	.byte 4, 3, 3
.Laddress:
	.uleb128 5
	.asciz "where"
	.byte 1, 4, 5
.Lstruct:
	.uleb128 6
	.asciz "S"
	.byte 8
.Lmember:
	.uleb128 7
	.asciz "a"
	.long .Lint-.Linfo
	.byte 3                                 // lit4, offset
	.byte 0x34, 0xe9, 0x04
	.uleb128 8
	.asciz "f"
	.byte 1
	.byte 3                                 // lit8, offset
	.byte 0x38, 0xe9, 0x04
	.byte 0
	.uleb128 9
	.long .Lint-.Linfo
	.long .Lstruct-.Linfo
	.byte 3                                 // swap, offset
	.byte 0x16, 0xe9, 0x04
	.uleb128 10
	.long .Lint-.Linfo
	.byte 6                                 // push_object_address, deref_size 8, lit0, form_aspace_address
	.byte 0x97, 0x94, 0x08, 0x30, 0xe9, 0x02
	.uleb128 17
	.asciz "outer"
.Lfunction:
	.uleb128 11
	.asciz "k"
	.byte 0, 1
	.quad 0x1000
	.quad 0x1100
	.byte 64                                // lanes
	.byte 2                                 // iterations: lit4, stack_value
	.byte 0x34, 0x9f
	.byte 7                                 // lane_pc: lit0, stack_value, extend 64, 64, nop
	.byte 0x30, 0x9f, 0xe9, 0x0b, 64, 64, 0x96
	.byte 2                                 // active_lane: regx EXEC
	.byte 0x90, 17
	.byte 4                                 // frame_base: lit0, lit5, form_aspace_address
	.byte 0x30, 0x35, 0xe9, 0x02
	.byte 4                                 // return_addr: lit8, lit6, form_aspace_address
	.byte 0x38, 0x36, 0xe9, 0x02
	.byte 4                                 // static link
	.byte 0x38, 0x36, 0xe9, 0x02
.Lparameter:
	.uleb128 16
	.asciz "n"
	.long .Lint-.Linfo
.Lx:
	.uleb128 12
	.asciz "x"
	.long .Lint-.Linfo
	.byte 9                                 // regx v2, push_lane, lit4, mul, offset
	.byte 0x90, 0x82, 0x14, 0xe9, 0x03, 0x34, 0x1e, 0xe9, 0x04
.Ly:
	.uleb128 13
	.asciz "y"
	.long .Lint-.Linfo
	.long .Llist-.Lloclists+12
.Lz:
	.uleb128 12
	.asciz "z"
	.long .Lint-.Linfo
	.byte 8                                 // regx s4, deref_type 4 int, nop, stack_value, nop
	.byte 0x90, 36, 0xa6, 4, .Lint-.Linfo, 0x96, 0x9f, 0x96
.Lc:
	.uleb128 12
	.asciz "c"
	.long .Llong-.Linfo
	.byte 14                                // const_type long 7, stack_value
	.byte 0xa4, .Llong-.Linfo, 8
	.quad 7
	.byte 0x9f, 0x96, 0x96
.Lshared:
	.uleb128 12
	.asciz "shared"
	.long .Lint-.Linfo
	.byte 4                                 // lit8, lit3, form_aspace_address
	.byte 0x38, 0x33, 0xe9, 0x02
.Lindexed:
	.uleb128 12
	.asciz "indexed"
	.long .Lint-.Linfo
	.byte 2                                 // addrx 0
	.byte 0xa1, 0
.Lcalls:
	.uleb128 12
	.asciz "calls"
	.long .Lint-.Linfo
	.byte 5                                 // call4 shared
	.byte 0x99
	.long .Lshared-.Linfo
.Lsite:
	.uleb128 14
	.quad 0x1040
	.byte 3                                 // target: regx s30
	.byte 0x90, 62, 0x96
	.uleb128 15
	.byte 2                                 // location: regx s4
	.byte 0x90, 36
	.byte 1                                 // value: lit7
	.byte 0x37
	.byte 4                                 // data location
	.byte 0x38, 0x33, 0xe9, 0x02
	.byte 1                                 // data value: lit9
	.byte 0x39
	.long .Lparameter-.Linfo                // call_parameter
	.byte 0
	.byte 0
	.byte 0
	.byte 0
.Linfo_end:

	.section .debug_addr,"",@progbits
	.long 12
	.short 5
	.byte 8, 0
	.quad 0x2000

	.section .debug_loclists,"",@progbits
	.long .Lloclists_end-.Lloclists+8
	.short 5
	.byte 8, 0
	.long 0
.Lloclists:
.Llist:
	.byte 7
	.quad 0x1000
	.quad 0x1040
	.uleb128 2
	.byte 0x90, 37
	.byte 7
	.quad 0x1040
	.quad 0x1080
	.uleb128 2
	.byte 0x31, 0x9f
	.byte 5
	.uleb128 0
	.byte 0
.Lloclists_end:

	.section .debug_rnglists,"",@progbits
	.long .Lrnglists_end-.Lrnglists+8
	.short 5
	.byte 8, 0
	.long 0
.Lrnglists:
.Lranges:
	.byte 6
	.quad 0x1000
	.quad 0x1100
	.byte 0
.Lrnglists_end:

	.section .debug_line,"",@progbits
	.long .Lline_end-.Lline
.Lline:
	.short 5
	.byte 8, 0
	.long .Lprogram-.Lheader
.Lheader:
	.byte 1, 1, 1, 0xfb, 14, 10
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1
	.byte 1, 1, 0x08                        // directories: DW_LNCT_path as a string
	.byte 1
	.asciz "/r"
	.byte 4                                 // files: path, directory, source, is_MD5
	.byte 1, 0x08
	.byte 2, 0x0b
	.uleb128 0x2001
	.byte 0x08
	.uleb128 0x2002
	.byte 0x0f
	.byte 1
	.asciz "r.c"
	.byte 0
	.asciz "int x\n"
	.byte 0
.Lprogram:
	.byte 0, 9, 2                           // set_address
	.quad 0x1000
	.byte 20
	.byte 2                                 // advance_pc
	.uleb128 0x100
	.byte 0, 1, 1                           // end_sequence
.Lline_end:

	.section .debug_frame,"",@progbits
.Lcie:
	.long .Lcie_end-.Lcie-4
	.long 0xffffffff
	.byte 4
	.asciz "[amd:v0.0]"
	.byte 8, 0, 4, 4, 16
	.byte 0x30, 32, 0, 6                    // def_aspace_cfa s0 +0 private_wave
	.byte 0x10, 16, 2, 0x90, 48             // expression PC: regx s16
	.byte 0, 0, 0, 0, 0, 0
.Lcie_end:
.Lfde:
	.long .Lfde_end-.Lfde-4
	.long .Lcie-.Lcie
	.quad 0x1000
	.quad 0x100
	.byte 0x41                              // advance_loc 1
	.byte 0x0a                              // remember_state
	.byte 0x0e, 8                           // def_cfa_offset 8
	.byte 0x42                              // advance_loc 2
	.byte 0x0b                              // restore_state
	.byte 0, 0
.Lfde_end:

	.section .debug_names,"",@progbits
.Lnames:
	.long .Lnames_end-.Lnames-4
	.short 5
	.short 0
	.long 1, 0, 0, 0, 2                     // units, type units, foreign ones, buckets, names
	.long .Lnames_pool-.Lnames_abbrevs
	.long 12                                // augmentation
	.ascii "LLVM0700\0\0\0\0"
	.long .Linfo-.Linfo
	.long .Lstring_k-.Lstrings, .Lstring_shared-.Lstrings
	.long .Lentry_k-.Lnames_pool, .Lentry_shared-.Lnames_pool
.Lnames_abbrevs:
	.byte 1                                 // die_offset as ref4
	.uleb128 0x2e
	.byte 3, 0x13, 0, 0
	.byte 2
	.uleb128 0x34
	.byte 3, 0x13, 0, 0
	.byte 0
.Lnames_pool:
.Lentry_k:
	.byte 1
	.long .Lfunction-.Linfo
	.byte 0
.Lentry_shared:
	.byte 2
	.long .Lshared-.Linfo
	.byte 0
.Lnames_end:

	.section .debug_str,"MS",@progbits,1
.Lstrings:
.Lstring_k:
	.asciz "k"
.Lstring_shared:
	.asciz "shared"
