"""Commands that render the demo clip, training data and held-out videos."""
