"""What a custom layer's compiler can complain about."""


class KernelError(Exception):
    """The kernels cannot be compiled or loaded; says what is missing or what the compiler said."""
