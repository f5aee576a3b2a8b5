"""Devices of other machines in a run of the pool: nodes of a Ray cluster. Only this folder imports Ray, when it is needed."""
