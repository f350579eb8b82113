-- Adds a scope to the registry of known scopes, or takes it out.
-- KEYS[1]  one shard of the registry
-- ARGV[1]  'add' or 'remove'    ARGV[2]  the scope's tag
-- Reply: 1 if that changed the registry
-- Can fail: WRONGTYPE, OOM.
return redis.call(ARGV[1] == 'add' and 'SADD' or 'SREM', KEYS[1], ARGV[2])
