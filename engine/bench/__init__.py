"""Measurements of the engine, offered to users."""
