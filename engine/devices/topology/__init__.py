"""How GPUs, PCIe switches, NUMA nodes and processors are connected."""
