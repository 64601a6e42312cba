"""What the whole simulator is built on: the builder, the layout of shared memory, waves, stops."""
