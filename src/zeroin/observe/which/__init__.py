"""Copies of a module on this machine: whose they are, and whether they say the same."""
