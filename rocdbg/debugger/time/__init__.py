"""The past: execution backwards, earlier writes and stops, origins of values, recordings."""
