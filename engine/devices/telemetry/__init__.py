"""What devices do at the moment: load, memory, clocks, power."""
