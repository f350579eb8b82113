-- Carries out the writes of a repair, all or nothing, unless the scope changed since it was read.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  the version the writes were made from (lib/version)
-- ARGV[2..]  per write: command, name of the key after the tag, number of arguments, arguments
--            HSET HDEL ZADD ZREM XDEL UNLINK as the server knows them;
--            THREAD: no argument; makes the list of threads name the thread of this `seen:` key if the key exists
-- Reply: {1, version now}, or {0, version now} with nothing written because it is another one
-- Can fail: OOM, WRONGTYPE: before the first write.
--#include lib/version
if version() ~= ARGV[1] then return {0, version()} end
local kinds = {HSET = 'hash', HDEL = 'hash', ZADD = 'zset', ZREM = 'zset', XDEL = 'stream'}
local writes, unlinked, at = {}, {}, 2
local threads, time = tag_prefix .. 'threads', redis.call('TIME')
while at <= #ARGV do
  local command, key, count = ARGV[at], tag_prefix .. ARGV[at + 1], tonumber(ARGV[at + 2])
  if command == 'THREAD' then
    local thread = string.sub(ARGV[at + 1], #'seen:' + 1)
    if kind_of(key) == 'none' then
      writes[#writes + 1] = {'ZREM', threads, thread}
    else
      writes[#writes + 1] = {'ZADD', threads, 'NX', time[1] .. '000', thread}
    end
  else
    writes[#writes + 1] = {command, key, unpack(ARGV, at + 3, at + 2 + count)}
    if command == 'UNLINK' then unlinked[key] = true end
    local found = kind_of(key)
    if kinds[command] and not unlinked[key] and found ~= 'none' and found ~= kinds[command] then
      return redis.error_reply('WRONGTYPE a key to repair holds another type')
    end
  end
  at = at + 3 + count
end
for _, command in ipairs(writes) do redis.call(unpack(command)) end
return {1, version()}
