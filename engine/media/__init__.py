"""Sources: videos, pictures and folders, cut and decoded."""
