"""Small widgets, the theme and text formats that several parts of the window use."""
