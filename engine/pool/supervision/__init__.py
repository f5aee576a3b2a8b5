"""The processes that workers run in: started, restarted and stopped by the pool."""
