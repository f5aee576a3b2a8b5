"""Lines and zones over the picture: drawing them, their counts, trails and heat map."""
