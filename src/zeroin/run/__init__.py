"""The only place that starts a user's command."""
