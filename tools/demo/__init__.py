"""Makes what `framefleet demo` shows: rendered streets, their truth, a detector trained on them."""
