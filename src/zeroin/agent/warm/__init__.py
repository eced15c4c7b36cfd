"""The warm engine, inside the user's program: stepping, snapshots, resuming under new code."""
