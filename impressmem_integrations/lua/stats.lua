-- Counts of one scope.
-- KEYS[1]  meta key of the scope
-- ARGV: none
-- Reply: {impressions, categories, labels, pins, journal entries, journal bytes, max impressions, generation, seq,
--         bytes of the records (an estimate from a sample of 200 where there are more), messages kept as evidence, their
--         bytes, model calls, input tokens, output tokens, ms of model calls, tokens of its day with those reserved,
--         context units that were reused, and fresh ones}
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
local counts = call('HMGET', meta_key, 'journal_bytes', 'max_impressions', 'seq', 'turn_bytes', 'reused_units',
  'fresh_units')
local usage = call('HMGET', tag_prefix .. 'usage', 'calls', 'input', 'output', 'ms', 'tokens', 'reserved')
local count = call('HLEN', prefix .. 'impressions')
local sample = call('ZRANGE', prefix .. 'created', 0, 199)
local bytes, read = 0, 0
for _, clue in ipairs(sample) do
  local size = call('HSTRLEN', prefix .. 'impressions', clue)
  if size > 0 then
    bytes, read = bytes + size, read + 1
  end
end
if read > 0 then bytes = bytes / read * count end
return {count, call('ZCARD', prefix .. 'categories'), call('ZCARD', prefix .. 'labels'),
  call('ZCARD', prefix .. 'pins'), call('XLEN', prefix .. 'journal'), tonumber(counts[1] or 0),
  tonumber(counts[2] or 0), tonumber(generation), tonumber(counts[3] or 0), math.floor(bytes),
  call('HLEN', prefix .. 'turns'), tonumber(counts[4] or 0), tonumber(usage[1] or 0), tonumber(usage[2] or 0),
  tonumber(usage[3] or 0), tonumber(usage[4] or 0), tonumber(usage[5] or 0) + tonumber(usage[6] or 0), tonumber(counts[5] or 0),
  tonumber(counts[6] or 0)}
