"""Child processes: start, messages, heartbeat, watchdog, staged stop, outcome and restarts. No other package starts any."""
