"""The error of the custom layers' compiler."""


class KernelError(Exception):
    """The kernels cannot be compiled or loaded. The message says what is missing, or has the compiler's message."""
