-- What check and repair need before anything else, whatever state the scope is in: key kinds, and a version that moves
-- with every change of it. Reads nothing of a key that holds another type.
-- Can fail: nothing by itself.
local meta_key = KEYS[1]
local tag_prefix = string.sub(meta_key, 1, -5)

local function kind_of(key)
  return redis.call('TYPE', key).ok
end

-- "<layout> <generation> <seq> <clock> <journal bytes> <pending purges> <next turn> <bytes of turns> <threads>", with
-- '-' for what is not there.
local function version()
  local fields = {false, false, false, false, false, false, false, false}
  if kind_of(meta_key) == 'hash' then
    fields = redis.call('HMGET', meta_key, 'layout', 'generation', 'seq', 'clock', 'journal_bytes', 'purge',
      'turn_next', 'turn_bytes')
  end
  for i = 1, 8 do fields[i] = fields[i] or '-' end
  local threads = tag_prefix .. 'threads'
  fields[9] = kind_of(threads) == 'zset' and redis.call('ZCARD', threads) or '-'
  return table.concat(fields, ' ')
end
