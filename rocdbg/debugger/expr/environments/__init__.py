"""The environments in which expressions are evaluated: a frame of the running program, or the program before it runs.
"""
