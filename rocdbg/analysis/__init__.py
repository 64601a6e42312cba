"""Facts derived from machine code, such as where functions save registers, for unwinding without CFI."""
