-- A context's text where nothing changed; else what it takes to bring it up to date, or to make it anew.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  profile of the snapshot, or '' for none   ARGV[2]  bytes of records after which reading ends
-- ARGV[3]  most names of each kind                   ARGV[4]  bytes of changed records that call for a new epoch
-- Reply, one of
--   {'same', epoch, text, included, about}
--   {'delta', generation, seq, epoch, core, delta, text, seq of the snapshot, impressions stored,
--    {withdrawn clue...}, row...}
--       rows: what changed since the snapshot, oldest change first; withdrawn: what left since, expired ones too
--   {'full', generation, seq, seq of the snapshot or '', last epoch, impressions stored, categories stored, labels stored,
--    {category...}, {label...} newest first, number of pinned rows, row...}
--       rows: all pinned ones, oldest first, then the others, newest first, until the bytes are reached
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
local profile, bytes, most, delta_bytes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local now = now_ms()
local seq = meta[3] or '0'
local snapshot_key = prefix .. 'snapshot:' .. profile
local due = call('ZRANGEBYSCORE', prefix .. 'expiry', '-inf', whole(now), 'LIMIT', 0, CHUNK)

local held = profile ~= '' and call('HMGET', snapshot_key, 'seq', 'epoch', 'text', 'included', 'about') or {}
if held[1] == seq and #due == 0 then return {'same', held[2], held[3], held[4], held[5]} end

if held[1] then
  if #due < CHUNK and tonumber(meta[8] or 0) <= tonumber(held[1]) then
    local changed = call('ZRANGEBYSCORE', prefix .. 'changed', '(' .. held[1], '+inf')
    local gone = call('ZRANGEBYSCORE', prefix .. 'withdrawn', '(' .. held[1], '+inf')
    for _, clue in ipairs(due) do gone[#gone + 1] = clue end
    local parts = call('HMGET', snapshot_key, 'core', 'delta')
    local out = {'delta', generation, seq, held[2], parts[1], parts[2], held[3], held[1],
      call('HLEN', prefix .. 'impressions'), gone}
    local over = false
    append_rows(out, changed, now, function(sum)
      over = sum + #parts[2] > delta_bytes
      return over
    end)
    if not over then return out end
  end
end

local function newest(key) return call('ZREVRANGE', prefix .. key, 0, most - 1) end
local out = {'full', generation, seq, held[1] or '', call('HGET', meta_key, 'epoch') or '0',
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
