-- Keeps a rendered context for all processes, by compare-and-set; the loser gets what is stored.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  profile        ARGV[2]  generation it was read at     ARGV[3]  seq it was read at
-- ARGV[4]  seq of the snapshot it replaces, or ''                ARGV[5]  its epoch
-- ARGV[6]  units that repeat the text before                     ARGV[7]  units that do not
-- ARGV[8]  most profiles kept
-- ARGV[9..]  fields and values, as in context; where the core is not among them, the stored one has to be of that epoch
-- Reply: {'kept'}, {'stale'} where something was forgotten since (keep nothing, show the text), or
--        {'other', epoch, core, kept, rest, included, about} where another process was first
-- Can fail: WRONGTYPE, CORRUPT, OOM: before the first write.
--#include lib/scope
local key, read_seq, new_core = prefix .. 'snapshot:' .. ARGV[1], tonumber(ARGV[3]), false
for i = 9, #ARGV, 2 do new_core = new_core or ARGV[i] == 'core' end
local marks = call('HMGET', meta_key, 'barrier', 'epoch', 'reused_units', 'fresh_units')
if not are_counts(marks, 1, 4) then return redis.error_reply(CORRUPT) end
if generation ~= ARGV[2] or tonumber(marks[1] or 0) > read_seq then return {'stale'} end
local held = call('HMGET', key, 'seq', 'epoch')
if not held[1] then
  if not new_core then return {'stale'} end
elseif held[1] ~= ARGV[4] or not (new_core or held[2] == ARGV[5]) then
  if (tonumber(held[1]) or 0) < read_seq then return {'stale'} end
  return {'other', held[2], unpack(call('HMGET', key, 'core', 'kept', 'rest', 'included', 'about'))}
end
local profiles, most = prefix .. 'snapshots', tonumber(ARGV[8])
local count = call('ZCARD', profiles)
call('HSET', key, 'seq', ARGV[3], 'epoch', ARGV[5], unpack(ARGV, 9))
call('ZADD', profiles, whole(now_ms()), ARGV[1])
call('HINCRBY', meta_key, 'reused_units', ARGV[6])
call('HINCRBY', meta_key, 'fresh_units', ARGV[7])
if tonumber(ARGV[5]) > tonumber(marks[2] or 0) then call('HSET', meta_key, 'epoch', ARGV[5]) end
if count >= most then
  for _, old in ipairs(call('ZRANGE', profiles, 0, -most - 1)) do
    call('UNLINK', prefix .. 'snapshot:' .. old)
    call('ZREM', profiles, old)
  end
end
return {'kept'}
