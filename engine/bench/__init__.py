"""The measurements of ``framefleet bench``."""
