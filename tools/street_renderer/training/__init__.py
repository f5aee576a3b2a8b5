"""The demo model: its description, training in PyTorch and evaluation."""
