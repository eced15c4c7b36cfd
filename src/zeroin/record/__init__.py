"""What happened: the store of attempts, and the shadow of the code each one ran."""
