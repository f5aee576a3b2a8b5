"""Which device does which frames: dispatcher, throughput, work stealing, strategies."""
