"""The moving parts of a scene: routes, traffic simulation and poses."""
