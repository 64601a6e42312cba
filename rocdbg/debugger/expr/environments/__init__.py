"""What an expression is evaluated in: a frame of the running program, or the program before it runs."""
