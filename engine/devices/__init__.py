"""The devices of this machine: discovery, telemetry, topology, affinity."""
