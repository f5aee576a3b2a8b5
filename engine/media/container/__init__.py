"""What is read from a file without decoding it: packets, keyframes, damage."""
