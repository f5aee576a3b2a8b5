"""The panel that shows how throughput grows with the number of devices."""
