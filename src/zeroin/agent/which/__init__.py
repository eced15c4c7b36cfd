"""Which file, class or method a name really is, asked of the user's own interpreter."""
