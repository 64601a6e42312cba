"""Translates machine code to LLVM IR: the text of primitives, the wave builder, blocks, and runtime routines."""
