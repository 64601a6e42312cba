"""What entries say, attribute by attribute, each by its own rules; and files that have entries."""
