"""What several export formats share."""
