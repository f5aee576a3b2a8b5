"""The topology: how GPUs, PCIe switches, NUMA nodes and processors are connected."""
