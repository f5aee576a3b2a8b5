"""The process that decodes pictures for the window."""
