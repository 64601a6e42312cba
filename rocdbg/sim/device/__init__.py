"""The simulated device: its memory and queue, its dispatches, the resident waves and their turns."""
