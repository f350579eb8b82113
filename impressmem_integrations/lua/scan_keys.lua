-- One step through the names of a scope's keys. It walks the whole database, so it is for check and repair only.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  cursor    ARGV[2]  about how many keys of the database to look at
-- Reply: {next cursor, {name after the tag...}}; a name may come twice
-- Can fail: nothing. Reads only.
local tag_prefix = string.sub(KEYS[1], 1, -5)
local page = redis.call('SCAN', ARGV[1], 'MATCH', tag_prefix .. '*', 'COUNT', ARGV[2])
for i, key in ipairs(page[2]) do page[2][i] = string.sub(key, #tag_prefix + 1) end
return page
