"""What the agent knows of CPython's insides, and of which versions it knows that."""
