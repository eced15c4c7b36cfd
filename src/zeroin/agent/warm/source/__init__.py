"""The text of a program: where it can go on, woven with hooks, compared with what it was."""
