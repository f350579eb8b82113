-- Reads whole records as flat rows. Needs lib/scope.
-- A row: clue, record, filing, facts, pinned at or '', expires at or '', seq of the last change or '0'.
-- Ghosts (index members without a record) and expired unpinned notes are skipped.
-- Can fail: WRONGTYPE.
local ROW = 7

-- Appends the rows of `clues` to `out`. `enough(bytes)` is asked after each row with the bytes so far; true stops.
-- Returns how many of the clues were looked at.
local function append_rows(out, clues, now, enough)
  local bytes = 0
  for from = 1, #clues, CHUNK do
    local part = {unpack(clues, from, math.min(from + CHUNK - 1, #clues))}
    local records = call('HMGET', prefix .. 'impressions', unpack(part))
    local filings = call('HMGET', prefix .. 'filing', unpack(part))
    local facts = call('HMGET', prefix .. 'facts', unpack(part))
    local pins = call('ZMSCORE', prefix .. 'pins', unpack(part))
    local expiries = call('ZMSCORE', prefix .. 'expiry', unpack(part))
    local changes = call('ZMSCORE', prefix .. 'changed', unpack(part))
    for i = 1, #part do
      local due = expiries[i] and not pins[i] and tonumber(expiries[i]) <= now
      if records[i] and filings[i] and facts[i] and not due then
        local n = #out
        out[n + 1], out[n + 2], out[n + 3], out[n + 4] = part[i], records[i], filings[i], facts[i]
        out[n + 5], out[n + 6], out[n + 7] = pins[i] or '', expiries[i] or '', changes[i] or '0'
        bytes = bytes + #part[i] + #records[i] + #filings[i]
        if enough and enough(bytes) then return from + i - 1 end
      end
    end
  end
  return #clues
end
