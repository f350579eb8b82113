"""A benchmark, not a test: this project beside the system it was described by, as ratios to the bare server."""
