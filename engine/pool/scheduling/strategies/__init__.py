"""The strategies by which devices share the work, one file each."""
