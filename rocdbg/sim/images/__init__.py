"""Images and samplers: formats, descriptors of each generation, and the layout of texels in memory."""
