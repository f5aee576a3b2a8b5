"""The texts of what ``engine/processes`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "processes.memory_limited": "its memory is limited to {limit:,} MB, which may be the cause: raise the limit (ulimit -v)",
    "processes.no_memory_left": "no memory is left: a process may use {limit:,} MB here; raise the limit (ulimit -v), or remove it",
    "processes.no_memory": "no memory is left on this machine: end other programs, or use fewer devices",
    "processes.no_descriptors": "no more files can be opened: a process may have {limit:,} open here; raise the limit (ulimit -n)",
    "processes.file_limit": "a file may have {limit:,} KiB here: raise the limit (ulimit -f), or write less",
    "processes.no_threads": "no more threads can be started: raise the limit of processes (ulimit -u) or of memory (ulimit -v)",
    "processes.worker": "the worker",
    # how a child process ended: {name} is the process in words
    "processes.not_ended": "{name} did not end",
    "processes.status": "{name} ended unexpectedly with status {exit_code}",
    "processes.killed": "{name} was killed (SIGKILL), by a user or by the system because memory ran out",
    "processes.terminated": "{name} was terminated ({signal})",
    "processes.crashed": "{name} crashed ({signal})",
    "processes.crashed_with_limit": "{crash}; {advice}",
    "processes.no_sign_of_life": "{name} gave no sign of life for {seconds} s",
    "processes.too_slow": "{what} did not come to an end within {limit:.0f} s",
    # how a program ended that prints JSON
    "processes.no_answer": "it gave no answer within {timeout:g} s",
    "processes.not_started": "it cannot be started: {error}",
    "processes.program_crashed": "it crashed (signal {signal})",
    "processes.program_status": "it ended with status {status}",
    "processes.last_line": "{problem}: {line}",
    # the holder of a lock
    "processes.holder": "process {pid} ({command})",
    "processes.other_holder": "another process",
}
