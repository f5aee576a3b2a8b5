"""A detection run from sources to stored results: the run (pool → events), the recorder (events → store), and what it resumes."""
