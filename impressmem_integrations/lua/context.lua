-- What a context is rendered from, in one trip.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  bytes of records after which reading ends   ARGV[2]  most names of each kind
-- Reply: {generation, seq, impressions stored, categories stored, labels stored,
--         {category...}, {label...} newest first, number of pinned rows, row...}
-- The pinned rows come first, oldest first, all of them; then the others, newest first, until the bytes are reached.
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
local bytes, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local now = now_ms()
local function newest(key) return call('ZREVRANGE', prefix .. key, 0, most - 1) end
local out = {generation, call('HGET', meta_key, 'seq') or '0', call('HLEN', prefix .. 'impressions'),
  call('ZCARD', prefix .. 'categories'), call('ZCARD', prefix .. 'labels'),
  newest('categories'), newest('labels'), 0}
local head = #out
local pins = call('ZRANGE', prefix .. 'pins', 0, -1)
append_rows(out, pins, now)
out[head] = (#out - head) / ROW
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
