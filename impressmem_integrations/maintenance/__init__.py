"""Maintenance: a turn of talk becomes impressions, by a model's tool calls."""
