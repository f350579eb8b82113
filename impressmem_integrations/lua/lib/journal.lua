-- The journal of a scope: one entry per transaction with what was there before. Needs lib/images and lib/entries.
-- Can fail: OOM, when it is the first write.
local journal = {
  key = prefix .. 'journal',
  bytes = tonumber(meta[5] or 0),
  transaction = settings.transaction,
}

function journal.transaction_id()
  if journal.transaction == '' then journal.transaction = whole(work.next_seq()) end
  return journal.transaction
end

local function netstring(text)
  return text and #text .. ':' .. text .. ',' or '0:,'
end

local function image_of(clue, record, filing, facts, pin, expires)
  return #clue .. ':' .. clue .. ',' .. #record .. ':' .. record .. ',' .. #filing .. ':' .. filing .. ',' .. #facts
    .. ':' .. facts .. ',' .. netstring(pin) .. netstring(expires)
end

-- Fields: transaction, operation, at (ms), clues (UNIT around each), source, reason, undoable (0 or 1),
-- bytes (what counts towards the limit), before (per clue six netstrings: clue, record, filing, facts, pinned at,
-- expires at; all but the clue empty where there was no record, the record alone where the transaction left it as it is).
function journal.write(changed, refiled, operation)
  local MAX_TRANSACTION_BYTES = 4194304
  local names, images = {''}, {}
  for _, unit in ipairs(changed) do
    if unit.why ~= 'forget' then
      local clue, old, new = unit.clue, unit.old, unit.new
      names[#names + 1] = clue
      if unit.live then
        local record = new and new.record == old.record and '' or old.record
        images[#images + 1] = image_of(clue, record, old.filing, old.facts, old.pin, old.expires)
      else
        images[#images + 1] = #clue .. ':' .. clue .. ',0:,0:,0:,0:,0:,'
      end
    end
  end
  for _, change in ipairs(refiled) do
    names[#names + 1] = change.clue
    images[#images + 1] = image_of(change.clue, '', change.was, change.before, change.pin, change.expires)
  end
  names[#names + 1] = ''
  local before, undoable = table.concat(images), '1'
  if #before > MAX_TRANSACTION_BYTES then before, undoable = '', '0' end
  local listed = #names > 2 and table.concat(names, UNIT) or ''
  local bytes = #before + #listed + #settings.source + #settings.reason + 100
  journal.bytes = journal.bytes + bytes
  call('XADD', journal.key, '*', 'transaction', journal.transaction_id(), 'operation', operation, 'at', now,
    'clues', listed, 'source', settings.source, 'reason', settings.reason, 'undoable', undoable,
    'bytes', bytes, 'before', before)
end

function journal.remove(entry, fields)
  call('XDEL', journal.key, entry[1])
  journal.bytes = math.max(0, journal.bytes - tonumber(fields.bytes))
end

-- Keeps the journal within its bytes (the newest entry always stays), entries and age. `length`: entries it has.
function journal.trim(length)
  local MOST, AGE_LOOKED_AT_EACH = 200, 32   -- entries, transactions
  local look_at_age = work.seq % AGE_LOOKED_AT_EACH == 0
  for _ = 1, MOST do
    local over = length > settings.journal_entries or (journal.bytes > settings.journal_bytes and length > 1)
    if not over and not look_at_age then return end
    local oldest = call('XRANGE', journal.key, '-', '+', 'COUNT', 1)[1]
    if not oldest then return end
    local fields = fields_of(oldest)
    if not over and tonumber(fields.at) >= now - settings.journal_age then return end
    journal.remove(oldest, fields)
    length = length - 1
  end
end
