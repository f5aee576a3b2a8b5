"""Everything that moves: routes, traffic simulation and poses."""
