"""Expressions for all lanes at once, compiled for the target: conditions, tracepoints, dynamic printf."""
