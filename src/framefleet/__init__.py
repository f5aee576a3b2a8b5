"""Framefleet: detects objects in videos on every device of a machine. The folders beside this file are links to those of the checkout."""
