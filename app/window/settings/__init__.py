"""The settings dialog, its forms, and the stored preferences."""
