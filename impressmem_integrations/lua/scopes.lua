-- One step through a shard of the registry.
-- KEYS[1]  one shard of the registry
-- ARGV[1]  cursor    ARGV[2]  about how many
-- Reply: {next cursor, {tag...}}
-- Can fail: WRONGTYPE. Reads only.
return redis.call('SSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
