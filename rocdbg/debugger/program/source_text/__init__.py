"""What the program's source text says beyond its debug information: macros, constants, initialisers."""
