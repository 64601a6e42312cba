"""Facts from the program's source text that its debug information lacks: macros, constants, initialisers."""
