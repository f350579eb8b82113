-- A context's text where nothing changed; else what it takes to bring it up to date, or to make it anew.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  profile of the snapshot, or '' for none   ARGV[2]  bytes of records after which reading ends
-- ARGV[3]  most names of each kind
-- Reply, one of
--   {'same', epoch, text, included, about}
--   {'delta', generation, seq, seq of the snapshot, epoch, shown part of the core, part that is not, rest, core_about,
--    delta_about, impressions stored, {withdrawn clue...}, row...}
--       rows: what changed since the snapshot, oldest change first; withdrawn: what left since, expired ones too
--   {'full', generation, seq, seq of the snapshot or '', last epoch, impressions stored, categories stored, labels stored,
--    {category...}, {label...} newest first, number of pinned rows, row...}
--       rows: all pinned ones, oldest first, then the others, newest first, until the bytes are reached
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
--#include lib/snapshot
local bytes, most = tonumber(ARGV[2]), tonumber(ARGV[3])
local now = now_ms()
local seq = meta[3] or '0'
local due = call('ZRANGEBYSCORE', prefix .. 'expiry', '-inf', whole(now), 'LIMIT', 0, CHUNK)

local stored_seq = ARGV[1] ~= '' and call('HGET', snapshot_key, 'seq')
if stored_seq == seq and #due == 0 then return stored_context('same') end

if stored_seq then
  local floor = call('HGET', meta_key, 'withdrawn_floor')
  local changed = call('ZRANGEBYSCORE', prefix .. 'changed', '(' .. stored_seq, '+inf', 'LIMIT', 0, CHUNK)
  if #changed < CHUNK and #due < CHUNK and tonumber(floor or 0) <= tonumber(stored_seq) then
    local gone = call('ZRANGEBYSCORE', prefix .. 'withdrawn', '(' .. stored_seq, '+inf')
    for _, clue in ipairs(due) do gone[#gone + 1] = clue end
    local held = call('HMGET', snapshot_key, 'epoch', 'core', 'kept', 'rest', 'core_about', 'delta_about', 'room')
    local kept, room = tonumber(held[3]), tonumber(held[7])
    local out = {'delta', generation, seq, stored_seq, held[1], string.sub(held[2], 1, kept), string.sub(held[2], kept + 1),
      held[4], held[5], held[6], call('HLEN', prefix .. 'impressions'), gone}
    local over = false
    append_rows(out, changed, now, function(sum)
      over = sum > room
      return over
    end)
    if not over then return out end
  end
end

local function newest(key) return call('ZREVRANGE', prefix .. key, 0, most - 1) end
local out = {'full', generation, seq, stored_seq or '', call('HGET', meta_key, 'epoch') or '0',
  call('HLEN', prefix .. 'impressions'), call('ZCARD', prefix .. 'categories'), call('ZCARD', prefix .. 'labels'), newest('categories'), newest('labels'), 0}
local head = #out
local pins = call('ZRANGE', prefix .. 'pins', 0, -1)
append_rows(out, pins, now)
out[head] = #out - head
local pinned, before, offset = {}, 0, 0
for _, clue in ipairs(pins) do pinned[clue] = true end
while before < bytes do
  local page = call('ZREVRANGE', prefix .. 'clues', offset, offset + CHUNK - 1)
  local others, sum = {}, 0
  for _, clue in ipairs(page) do
    if not pinned[clue] then others[#others + 1] = clue end
  end
  append_rows(out, others, now, function(page_bytes)
    sum = page_bytes
    return before + sum >= bytes
  end)
  if #page < CHUNK then break end
  before, offset = before + sum, offset + CHUNK
end
return out
