"""Only a docstring."""
