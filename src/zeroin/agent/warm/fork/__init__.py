"""What a fork carries, what is put right in it, and what forbids one."""
