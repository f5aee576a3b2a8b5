"""Groups of devices that work as one device: one worker decodes, and the members' workers infer."""
