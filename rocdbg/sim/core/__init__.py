"""The foundation of the simulator: the builder, the layout of shared memory, waves, stops."""
