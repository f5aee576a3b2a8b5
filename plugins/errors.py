"""The error of the custom layers' compiler."""


class KernelError(Exception):
    """The kernels cannot be compiled or loaded. Says what is missing, or what the compiler said."""
