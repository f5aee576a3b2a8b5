"""Who does what next: dispatcher, throughput estimates, strategies."""
