"""The benchmarks of devices and of the links between them."""
