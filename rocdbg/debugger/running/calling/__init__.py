"""Functions of the program that the debugger calls on its waves."""
