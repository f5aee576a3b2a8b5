"""Sources: finding, probing, cutting and decoding videos and pictures."""
