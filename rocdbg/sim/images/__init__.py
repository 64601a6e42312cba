"""Images and samplers: formats, descriptors of each generation, and where the texels of a linear image lie."""
