"""Several devices that work as one: one worker decodes, and the workers of the members infer."""
