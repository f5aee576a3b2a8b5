"""The picture with its boxes, the player, and the filters of what is shown."""
