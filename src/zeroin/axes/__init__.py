"""What can vary between two cycles: commits, versions, environments, settings, limits, payloads."""
