"""Detection without a screen: models, media, backends, the pool of devices, and stored results."""

from engine.logs import follow_environment

follow_environment()  # here, since every child process imports this package, whatever it runs
