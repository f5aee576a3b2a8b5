"""The seek bar and the counts that it shows."""
