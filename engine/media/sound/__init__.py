"""The sound process, which plays a video's sound in step with its pictures."""
