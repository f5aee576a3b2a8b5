"""The texts of what ``engine/processes`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "processes.memory_limited": "its memory is limited to {limit:,} MB, which may be the cause: raise the limit (ulimit -v)",
    "processes.no_memory_left": "no memory is left: a process may use {limit:,} MB here; raise the limit (ulimit -v), or remove it",
    "processes.no_memory": "no memory is left on this machine: end other programs, or use fewer devices",
    "processes.no_descriptors": "no more files can be opened: a process may have {limit:,} open here; raise the limit (ulimit -n)",
    "processes.no_threads": "no more threads can be started: raise the limit of processes (ulimit -u) or of memory (ulimit -v)",
}
