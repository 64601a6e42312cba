"""Every instruction form that the decoder accepts: listed, compiled in both tiers, run, and checked against its
operands.
"""
