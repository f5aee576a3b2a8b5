"""The shapes of vehicles, people and dogs."""
