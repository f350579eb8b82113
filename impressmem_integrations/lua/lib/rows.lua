-- Reads whole records as rows. Needs lib/scope.
-- A row is one text, since a client takes in one long reply sooner than seven short ones:
--   clue RECORD filing RECORD facts RECORD pinned at or '' RECORD expires at or '' RECORD record
-- No name and no number holds RECORD; the record, which may hold anything, comes last.
-- Ghosts (index members without a record) and expired unpinned notes are skipped.
-- Can fail: WRONGTYPE.

-- Appends the rows of `clues` to `out`. `taken(bytes, clue, filing)` is told of each row, with the bytes so far; if it
-- returns true the reading ends. Returns how many of the clues were looked at.
local function append_rows(out, clues, now, taken)
  local bytes = 0
  for from = 1, #clues, CHUNK do
    local part = {unpack(clues, from, math.min(from + CHUNK - 1, #clues))}
    local records = call('HMGET', prefix .. 'impressions', unpack(part))
    local filings = call('HMGET', prefix .. 'filing', unpack(part))
    local facts = call('HMGET', prefix .. 'facts', unpack(part))
    local pins = call('ZMSCORE', prefix .. 'pins', unpack(part))
    local expiries = call('ZMSCORE', prefix .. 'expiry', unpack(part))
    for i = 1, #part do
      local clue, record, filing = part[i], records[i], filings[i]
      local due = expiries[i] and not pins[i] and tonumber(expiries[i]) <= now
      if record and filing and facts[i] and not due then
        out[#out + 1] = table.concat({clue, filing, facts[i], pins[i] or '', expiries[i] or '', record}, RECORD)
        bytes = bytes + #clue + #record + #filing
        if taken and taken(bytes, clue, filing) then return from + i - 1 end
      end
    end
  end
  return #clues
end
