"""Light, shading and shadows."""
