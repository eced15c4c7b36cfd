"""Real failures of real libraries: the acceptance of "does it fail the same way?"."""
