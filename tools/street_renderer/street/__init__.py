"""Everything that stands still: houses, street furniture, and the layout of the roads."""
