"""The preview process, which decodes pictures for the window."""
