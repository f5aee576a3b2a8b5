"""The command line: one file per command, each with ``run(arguments) -> exit status``."""
