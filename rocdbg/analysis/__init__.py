"""Facts read off machine code: where functions keep what they found in registers, for unwinding without CFI."""
