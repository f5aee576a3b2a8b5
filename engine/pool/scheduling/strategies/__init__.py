"""The strategies by which devices share the work, each a class."""
