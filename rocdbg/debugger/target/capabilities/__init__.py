"""The capabilities that a target may have: state, running, a recorded past, calls of functions, conditions."""
