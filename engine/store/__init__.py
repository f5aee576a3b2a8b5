"""The session database, which stores the results of a run, and the exporters to other formats."""
