"""What shrink and every kind of bisect share."""
