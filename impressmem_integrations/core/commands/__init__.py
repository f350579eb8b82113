"""Command builders and reply parsers: pure functions, tested without a server by comparing values."""
