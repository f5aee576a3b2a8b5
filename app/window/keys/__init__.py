"""The keys of the window, which the user can change."""
