"""Icons, labels and other data, with one loader."""
