"""Translation of machine code to LLVM IR: text of primitives, wave builder, blocks, runtime routines."""
