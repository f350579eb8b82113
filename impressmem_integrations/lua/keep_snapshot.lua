-- Keeps a rendered context for all processes, by compare-and-set; the loser gets what is stored.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  profile        ARGV[2]  generation it was read at     ARGV[3]  seq it was read at
-- ARGV[4]  seq of the snapshot it replaces, or ''                ARGV[5]  its epoch
-- ARGV[6]  core   ARGV[7]  delta   ARGV[8]  text   ARGV[9]  included   ARGV[10]  about
-- ARGV[11] units that repeat the text before   ARGV[12] units that do not   ARGV[13] most profiles kept
-- Reply: {'kept'}, {'stale'} where something was forgotten since (keep nothing, show the text), or
--        {'other', epoch, text, included, about} where another process was first
-- Can fail: WRONGTYPE, OOM: before the first write.
--#include lib/scope
local key, read_seq = prefix .. 'snapshot:' .. ARGV[1], tonumber(ARGV[3])
local barrier = tonumber(call('HGET', meta_key, 'barrier') or 0)
if generation ~= ARGV[2] or barrier > read_seq then return {'stale'} end
local held = call('HMGET', key, 'seq', 'epoch', 'text', 'included', 'about')
if (held[1] or '') ~= ARGV[4] then
  if held[1] and tonumber(held[1]) >= read_seq then return {'other', held[2], held[3], held[4], held[5]} end
  if held[1] then return {'stale'} end
end
local profiles = prefix .. 'snapshots'
local count = call('ZCARD', profiles)
call('HSET', key, 'seq', ARGV[3], 'epoch', ARGV[5], 'core', ARGV[6], 'delta', ARGV[7], 'text', ARGV[8],
  'included', ARGV[9], 'about', ARGV[10])
call('ZADD', profiles, whole(now_ms()), ARGV[1])
call('HINCRBY', meta_key, 'reused_units', ARGV[11])
call('HINCRBY', meta_key, 'fresh_units', ARGV[12])
if tonumber(ARGV[5]) > tonumber(call('HGET', meta_key, 'epoch') or 0) then call('HSET', meta_key, 'epoch', ARGV[5]) end
if count >= tonumber(ARGV[13]) then
  for _, old in ipairs(call('ZRANGE', profiles, 0, -tonumber(ARGV[13]) - 1)) do
    call('UNLINK', prefix .. 'snapshot:' .. old)
    call('ZREM', profiles, old)
  end
end
return {'kept'}
