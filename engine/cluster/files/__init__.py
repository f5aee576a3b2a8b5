"""Sources and models on the nodes: found by their path, or sent, checked and cached."""
