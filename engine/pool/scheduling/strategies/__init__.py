"""One file per way of sharing the work between devices."""
