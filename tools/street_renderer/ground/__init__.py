"""The ground as a painted map: paving, asphalt, grass and road markings."""
