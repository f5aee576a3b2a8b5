"""Which devices this machine has."""
