"""Every instruction form that the decoder accepts: listed, compiled in both tiers, run, held to what it declares."""
