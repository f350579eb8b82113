-- Erases a scope: readers see nothing from here on. The old generation's keys are unlinked here while few, and by
-- purge.lua in chunks otherwise. What stays: meta, and salted hashes of what was distilled.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  layout version   ARGV[2]  a random salt (used once per scope)
-- Reply: {generations left to purge, joined by ',', impressions erased, journal entries erased, now, generation now}
-- Can fail: WRONGTYPE, MOVED, ASK: before the first write.
--#include lib/scope
local now = now_ms()
local count = call('HLEN', prefix .. 'impressions')
local entries = call('XLEN', prefix .. 'journal')
local threads = call('ZRANGE', tag_prefix .. 'threads', 0, -1)
local salt = meta[7] or ARGV[2]
local pending = call('HGET', meta_key, 'purge')
call('ZCARD', tag_prefix .. 'forgotten')
for _, thread in ipairs(threads) do call('ZCARD', tag_prefix .. 'seen:' .. thread) end
-- A full server refuses a script whose first write needs memory: so it begins with removing.
call('UNLINK', tag_prefix .. 'failures', tag_prefix .. 'usage')
call('HSET', meta_key, 'layout', ARGV[1], 'salt', salt, 'generation', whole(tonumber(generation) + 1),
  'purge', (pending and pending .. ',' or '') .. generation, 'journal_bytes', '0')
for _, thread in ipairs(threads) do
  for _, member in ipairs(call('ZRANGE', tag_prefix .. 'seen:' .. thread, 0, -1)) do
    local digest = string.sub(member, string.find(member, ' ', 1, true) + 1)
    call('ZADD', tag_prefix .. 'forgotten', whole(now), redis.sha1hex(salt .. 'turn' .. digest))
  end
  call('UNLINK', tag_prefix .. 'seen:' .. thread)
end
call('HDEL', meta_key, 'turn_first', 'turn_next', 'turn_bytes')
call('UNLINK', tag_prefix .. 'threads')
return {(pending and pending .. ',' or '') .. generation, count, entries, now, tonumber(generation) + 1}
