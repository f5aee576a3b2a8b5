"""Reads sessions: frames one by one, many frames as arrays, and what is known of each source."""
