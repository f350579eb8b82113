-- Keeps a rendered context for all processes, by compare-and-set; the loser gets what is stored.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  profile        ARGV[2]  generation it was read at     ARGV[3]  seq it was read at
-- ARGV[4]  seq of the snapshot it replaces, or ''                ARGV[5]  its epoch
-- ARGV[6]  kept: characters of the core that are shown          ARGV[7]  rest: what follows them
-- ARGV[8]  room: bytes of changed records that may come before a new epoch is due
-- ARGV[9]  included   ARGV[10] about: what a reader gets beside the text
-- ARGV[11] delta_about: what the next rendering needs to know of the changes
-- ARGV[12] core   ARGV[13] core_about: what it needs to know of that; both '' where those of the epoch stand
-- ARGV[14] units that repeat the text before   ARGV[15] units that do not   ARGV[16] most profiles kept
-- Reply: {'kept'}, {'stale'} where something was forgotten since (keep nothing, show the text), or
--        {'other', epoch, core, kept, rest, included, about} where another process was first
-- Can fail: WRONGTYPE, OOM: before the first write.
--#include lib/scope
local key, read_seq, new_core = prefix .. 'snapshot:' .. ARGV[1], tonumber(ARGV[3]), ARGV[12] ~= ''
local barrier = tonumber(call('HGET', meta_key, 'barrier') or 0)
if generation ~= ARGV[2] or barrier > read_seq then return {'stale'} end
local held = call('HMGET', key, 'seq', 'epoch')
if not held[1] then
  if not new_core then return {'stale'} end
elseif held[1] ~= ARGV[4] or not (new_core or held[2] == ARGV[5]) then
  if tonumber(held[1]) < read_seq then return {'stale'} end
  return {'other', held[2], unpack(call('HMGET', key, 'core', 'kept', 'rest', 'included', 'about'))}
end
local profiles = prefix .. 'snapshots'
local count = call('ZCARD', profiles)
call('HSET', key, 'seq', ARGV[3], 'epoch', ARGV[5], 'kept', ARGV[6], 'rest', ARGV[7], 'room', ARGV[8],
  'included', ARGV[9], 'about', ARGV[10], 'delta_about', ARGV[11])
if new_core then call('HSET', key, 'core', ARGV[12], 'core_about', ARGV[13]) end
call('ZADD', profiles, whole(now_ms()), ARGV[1])
call('HINCRBY', meta_key, 'reused_units', ARGV[14])
call('HINCRBY', meta_key, 'fresh_units', ARGV[15])
if tonumber(ARGV[5]) > tonumber(call('HGET', meta_key, 'epoch') or 0) then call('HSET', meta_key, 'epoch', ARGV[5]) end
if count >= tonumber(ARGV[16]) then
  for _, old in ipairs(call('ZRANGE', profiles, 0, -tonumber(ARGV[16]) - 1)) do
    call('UNLINK', prefix .. 'snapshot:' .. old)
    call('ZREM', profiles, old)
  end
end
return {'kept'}
