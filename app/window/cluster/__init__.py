"""A cluster in the window: the dialog to connect, the connection, and what it shows of the machines."""
