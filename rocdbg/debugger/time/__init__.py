"""The past: reverse execution, earlier writes and stops, origins of values, recordings."""
