"""One file per inference library."""
