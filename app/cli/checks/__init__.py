"""The checks of ``framefleet doctor``."""
