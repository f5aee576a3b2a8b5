"""One file per result format; each writes one source of a session to an open text file."""
