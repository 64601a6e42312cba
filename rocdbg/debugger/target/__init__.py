"""What runs the code: the capabilities a target may have, and the targets."""
