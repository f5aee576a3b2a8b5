"""The static parts of a scene: houses, street furniture, and the layout of the roads."""
