"""Messages about runs, and reports of unexpected errors."""
