"""What people touch: the command line, and what it looks like on a terminal."""
