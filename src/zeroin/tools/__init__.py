"""One file a verb. A tool does the work and returns a report; it never prints."""
