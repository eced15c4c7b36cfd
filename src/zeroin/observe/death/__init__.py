"""Why something died: what was around it, what the kernel knows, and what follows from that."""
