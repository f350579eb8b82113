-- How many impressions readers see: those whose time is over stay until somebody writes. Needs lib/scope.
-- Can fail: WRONGTYPE.

-- Two counts, no record is read: what is pinned has no expiry.
local function count_living(now)
  local due = call('ZCOUNT', prefix .. 'expiry', '-inf', whole(now))
  return math.max(0, call('HLEN', prefix .. 'impressions') - due), due
end

-- The clues of those whose time is over, as a list and as a set, oldest expiry first. Where so many wait that not all are
-- told, the rest may take the place of living ones in what is found, until writes have removed enough.
local function expired(now)
  local MOST_TOLD = 20000
  local list, set = {}, {}
  for from = 0, MOST_TOLD - 1, CHUNK do
    local page = call('ZRANGEBYSCORE', prefix .. 'expiry', '-inf', whole(now), 'LIMIT', from, CHUNK)
    for _, clue in ipairs(page) do list[#list + 1], set[clue] = clue, true end
    if #page < CHUNK then break end
  end
  return list, set
end
