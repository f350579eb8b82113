-- The operations `failed` (a turn could not be distilled), `collect` and `settle` (a plan waits, or is done with).
-- Needs lib/images.
-- Can fail: WRONGTYPE, before the first write.

local function beside(kind, key, write)
  also[#also + 1] = {probe = function() call(kind == 'hash' and 'HLEN' or 'ZCARD', key) end, write = write}
end

-- failed thread turn: counts in a row for the first turn not distilled; another turn begins anew.
function operations.failed(a)
  local key = tag_prefix .. 'failures'
  local turn, count = string.match(call('HGET', key, a[1]) or '', '^(%S+) (%d+)$')
  local tries = turn == a[2] and tonumber(count) + 1 or 1
  beside('hash', key, function() call('HSET', key, a[1], a[2] .. ' ' .. tries) end)
  return {'failed', tries}
end

-- collect id plan: the plan's text, opaque here.
function operations.collect(a)
  local key = prefix .. 'plans'
  beside('hash', key, function() call('HSET', key, a[1], a[2]) end)
  return {'collect', a[1]}
end

-- settle id: the guard `plan` sees to it that a plan is settled once.
function operations.settle(a)
  local key = prefix .. 'plans'
  beside('hash', key, function() call('HDEL', key, a[1]) end)
  return {'settle', a[1]}
end
