"""The registry of models that can be downloaded by name: the list, the download and its checks, the installed models."""
