"""Looking at processes and machines. Nothing here changes what it looks at."""
