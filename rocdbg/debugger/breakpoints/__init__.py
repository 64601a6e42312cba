"""Where the program stops: breakpoints and their conditions, catchpoints, watchpoints, dynamic printf."""
