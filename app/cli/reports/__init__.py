"""Reports as tables and charts."""
