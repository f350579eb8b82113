-- The journal of a scope: one entry per transaction with what was there before. Needs lib/images.
-- Can fail: OOM, when it is the first write.
local journal_key = prefix .. 'journal'
local MAX_TRANSACTION_BYTES = 4194304
local TRIMMED_AT_ONCE = 200
local AGE_LOOKED_AT_EACH = 32   -- transactions

local transaction = settings.transaction
local function transaction_id()
  if transaction == '' then transaction = whole(next_seq()) end
  return transaction
end

local function netstring(text)
  text = text or ''
  return #text .. ':' .. text .. ','
end

-- Fields: transaction, operation, at (ms), clues (UNIT around each), source, reason, undoable (0 or 1),
-- bytes (what counts towards the limit), before (per clue six netstrings: clue, record, filing, facts, pinned at,
-- expires at; empty where there was no record).
local function write_journal(changed, operation)
  local names, images = {''}, {}
  for _, unit in ipairs(changed) do
    if unit.why ~= 'forget' then
      local old = unit.live and unit.old
      names[#names + 1] = unit.clue
      images[#images + 1] = netstring(unit.clue) .. (old and (netstring(old.record) .. netstring(old.filing)
        .. netstring(old.facts) .. netstring(old.pin) .. netstring(old.expires)) or '0:,0:,0:,0:,0:,')
    end
  end
  names[#names + 1] = ''
  local before, undoable = table.concat(images), '1'
  if #before > MAX_TRANSACTION_BYTES then before, undoable = '', '0' end
  local listed = #names > 2 and table.concat(names, UNIT) or ''
  local bytes = #before + #listed + #settings.source + #settings.reason + 100
  journal_bytes = journal_bytes + bytes
  call('XADD', journal_key, '*', 'transaction', transaction_id(), 'operation', operation, 'at', whole(now),
    'clues', listed, 'source', settings.source, 'reason', settings.reason, 'undoable', undoable,
    'bytes', whole(bytes), 'before', before)
end

local function fields_of(entry)
  local fields = {}
  for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
  return fields
end

local function remove_entry(entry, fields)
  call('XDEL', journal_key, entry[1])
  journal_bytes = math.max(0, journal_bytes - tonumber(fields.bytes))
end

-- Removes entries that hold before-images of forgotten clues; returns how many.
local function scrub_journal(clues)
  local removed = 0
  for _, entry in ipairs(call('XRANGE', journal_key, '-', '+')) do
    local fields = fields_of(entry)
    for _, clue in ipairs(clues) do
      if string.find(fields.clues or '', UNIT .. clue .. UNIT, 1, true) then
        remove_entry(entry, fields)
        removed = removed + 1
        break
      end
    end
  end
  return removed
end

-- Keeps the journal within its bytes (the newest entry always stays), entries and age.
local function trim_journal(length)
  local look_at_age = seq % AGE_LOOKED_AT_EACH == 0
  for _ = 1, TRIMMED_AT_ONCE do
    local over = length > settings.journal_entries or (journal_bytes > settings.journal_bytes and length > 1)
    if not over and not look_at_age then return end
    local oldest = call('XRANGE', journal_key, '-', '+', 'COUNT', 1)[1]
    if not oldest then return end
    local fields = fields_of(oldest)
    if not over and tonumber(fields.at) >= now - settings.journal_age then return end
    remove_entry(oldest, fields)
    length = length - 1
  end
end
