"""The picture with its boxes, the controls of the player, and the filters of what is shown."""
