-- Adds a scope to the registry of known scopes, or takes it out.
-- KEYS[1]  one shard of the registry
-- ARGV[1]  'add' or 'remove'    ARGV[2]  the scope's tag
-- Reply: the server's policy when memory runs out, such as 'noeviction', or '' where it may not be read
-- Can fail: WRONGTYPE, OOM.
redis.call(ARGV[1] == 'add' and 'SADD' or 'SREM', KEYS[1], ARGV[2])
local info = redis.pcall('INFO', 'memory')
return type(info) == 'string' and string.match(info, 'maxmemory_policy:(%S+)') or ''
