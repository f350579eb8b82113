-- How many impressions readers see: those whose time is over stay until somebody writes. Needs lib/scope.
-- Can fail: WRONGTYPE.

-- Two counts, no record is read: what is pinned has no expiry.
local function count_living(now)
  local due = call('ZCOUNT', prefix .. 'expiry', '-inf', whole(now))
  return math.max(0, call('HLEN', prefix .. 'impressions') - due), due
end
