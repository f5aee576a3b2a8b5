"""Several devices that work as one: a front process decodes once, and its members infer."""
