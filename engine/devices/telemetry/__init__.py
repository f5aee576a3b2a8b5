"""Telemetry of devices: load, memory, clocks, power."""
