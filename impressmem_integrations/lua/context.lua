-- A context's text where nothing changed; else what it takes to bring it up to date, or to make it anew.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  profile of the snapshot, or '' for none   ARGV[2]  bytes of records after which reading ends
-- ARGV[3]  most names of each kind
-- A snapshot is a hash: seq and epoch it was made at; core, the frozen text; kept, how many characters of it are shown;
-- rest, what follows them; room, bytes of changed records that may come before a new epoch is due; pinned, clues whose
-- lines never leave; standing, clues whose change may start a new epoch (both with UNIT around each). Opaque: included
-- and about, what a reader gets beside the text; core_about and delta_about, what the next rendering takes beside it.
-- Reply, one of
--   {'same', epoch, core, kept, rest, included, about}
--   {'delta', generation, seq, seq of the snapshot, epoch, core, kept, rest, core_about, delta_about,
--    impressions that readers see, {withdrawn clue...}, a 'full' reply where a new epoch may be due, else '', row...}
--       rows: what changed since the snapshot, oldest change first; withdrawn: what left since, expired ones too
--   {'full', generation, seq, seq of the snapshot or '', last epoch, impressions that readers see, categories stored,
--    labels stored, categories, labels newest first, joined by UNIT, number of pinned rows, row...}
--       rows: all pinned ones, oldest first, then the others, newest first, until the bytes are reached
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
local profile, bytes, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now = now_ms()
local seq = meta[3] or '0'
local snapshot_key = prefix .. 'snapshot:' .. profile
local due = call('ZRANGEBYSCORE', prefix .. 'expiry', '-inf', whole(now), 'LIMIT', 0, CHUNK)

local function living() return math.max(0, call('HLEN', prefix .. 'impressions') - #due) end

local held = {}
if profile ~= '' then
  held = call('HMGET', snapshot_key, 'seq', 'epoch', 'core', 'kept', 'rest', 'included', 'about')
end
local stored_seq, epoch, core, kept, rest = held[1], held[2], held[3], held[4], held[5]
if stored_seq == seq and #due == 0 then return {'same', epoch, core, kept, rest, held[6], held[7]} end

local function anew()
  local function newest(key) return table.concat(call('ZREVRANGE', prefix .. key, 0, most - 1), UNIT) end
  local out = {'full', generation, seq, stored_seq or '', call('HGET', meta_key, 'epoch') or '0',
    living(), call('ZCARD', prefix .. 'categories'), call('ZCARD', prefix .. 'labels'),
    newest('categories'), newest('labels'), 0}
  local head = #out
  local pins = call('ZRANGE', prefix .. 'pins', 0, -1)
  append_rows(out, pins, now)
  out[head] = #out - head
  local PAGE = 100   -- what a small budget needs; to read more than is wanted takes longer than to ask again
  local pinned, before, offset = {}, 0, 0
  for _, clue in ipairs(pins) do pinned[clue] = true end
  while before < bytes do
    local page = call('ZREVRANGE', prefix .. 'clues', offset, offset + PAGE - 1)
    local others, sum = {}, 0
    for _, clue in ipairs(page) do
      if not pinned[clue] then others[#others + 1] = clue end
    end
    append_rows(out, others, now, function(page_bytes)
      sum = page_bytes
      return before + sum >= bytes
    end)
    if #page < PAGE then break end
    before, offset = before + sum, offset + PAGE
  end
  return out
end

-- Whether a change may start a new epoch: of a clue that stands in a short text, or of what is pinned.
local function may_end(changed, gone, pinned, standing)
  local function names(list, clue) return string.find(list, UNIT .. clue .. UNIT, 1, true) ~= nil end
  local pins = changed[1] and call('ZMSCORE', prefix .. 'pins', unpack(changed)) or {}
  for i, clue in ipairs(changed) do
    if names(standing, clue) or names(pinned, clue) ~= (pins[i] ~= false) then return true end
  end
  for _, clue in ipairs(gone) do
    if names(standing, clue) then return true end
  end
  return false
end

local since = tonumber(string.match(stored_seq or '', '^%d+$') or '')
if since and since <= (tonumber(seq) or 0) then   -- else there is no snapshot, or one that somebody else wrote to
  if #due < CHUNK and tonumber(meta[8] or 0) <= since then
    local changed = call('ZRANGEBYSCORE', prefix .. 'changed', '(' .. stored_seq, '+inf')
    local gone = call('ZRANGEBYSCORE', prefix .. 'withdrawn', '(' .. stored_seq, '+inf')
    for _, clue in ipairs(due) do gone[#gone + 1] = clue end
    local more = call('HMGET', snapshot_key, 'core_about', 'delta_about', 'room', 'pinned', 'standing')
    local out = {'delta', generation, seq, stored_seq, epoch, core, kept, rest, more[1], more[2],
      living(), gone, ''}
    local room, over = tonumber(more[3] or '') or -1, false
    append_rows(out, changed, now, function(sum)
      over = sum > room
      return over
    end)
    if not over then
      if may_end(changed, gone, more[4] or '', more[5] or '') then out[13] = anew() end
      return out
    end
  end
end

return anew()
