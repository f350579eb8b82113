"""The pure core: no redis, no framework, no clock of its own."""
