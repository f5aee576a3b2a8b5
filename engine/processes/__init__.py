"""Child processes: start, messages, heartbeat, watchdog, staged stop, outcome and restarts. The only place where they are made."""
