"""Edits of programs in a loop, each compared with a cold run of what was saved."""
