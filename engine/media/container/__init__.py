"""Reads container files without decoding: packets, keyframes, damage."""
