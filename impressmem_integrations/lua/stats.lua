-- Counts of one scope.
-- KEYS[1]  meta key of the scope
-- ARGV: none
-- Reply: {impressions, categories, labels, pins, journal entries, journal bytes, max impressions, generation, seq,
--         bytes of the records (an estimate from a sample of 200 where there are more), turns distilled (threads)}
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
local counts = call('HMGET', meta_key, 'journal_bytes', 'max_impressions', 'seq')
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
  call('ZCARD', tag_prefix .. 'threads')}
