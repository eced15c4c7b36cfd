"""Resource limits and faults as context managers."""
