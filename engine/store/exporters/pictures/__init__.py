"""The frames of a data set: which ones, their names, and their pictures."""
