"""The simulated device: its memory and queue, the dispatches on it, which waves are resident and whose turn it is."""
