-- Counts of one scope, as readers see it: what has expired and waits for the next write to leave does not count.
-- KEYS[1]  meta key of the scope
-- ARGV: none
-- Reply: {impressions, categories, labels, pins, journal entries, journal bytes, max impressions, generation, seq,
--         bytes of the records (an estimate from a sample of 200 where there are more), messages kept as evidence, their
--         bytes, model calls, input tokens, output tokens, ms of model calls, tokens of its day with those reserved,
--         context units that were reused, and fresh ones}
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/living
local counts = call('HMGET', meta_key, 'journal_bytes', 'max_impressions', 'seq', 'turn_bytes', 'reused_units',
  'fresh_units')
local usage = call('HMGET', tag_prefix .. 'usage', 'calls', 'input', 'output', 'ms', 'tokens', 'reserved')
local now = now_ms()
local count, due = count_living(now)
local sample = call('ZRANGE', prefix .. 'created', 0, 199)
local expiries = due > 0 and #sample > 0 and call('ZMSCORE', prefix .. 'expiry', unpack(sample)) or {}

-- The average size of the sampled records that live, or of all of them.
local function average(living)
  local bytes, read = 0, 0
  for i, clue in ipairs(sample) do
    if not (living and expiries[i] and tonumber(expiries[i]) <= now) then
      local size = call('HSTRLEN', prefix .. 'impressions', clue)
      if size > 0 then bytes, read = bytes + size, read + 1 end
    end
  end
  return read > 0 and bytes / read
end
local bytes = (average(true) or average(false) or 0) * count
return {count, call('ZCARD', prefix .. 'categories'), call('ZCARD', prefix .. 'labels'),
  call('ZCARD', prefix .. 'pins'), call('XLEN', prefix .. 'journal'), tonumber(counts[1] or 0),
  tonumber(counts[2] or 0), tonumber(generation), tonumber(counts[3] or 0), math.floor(bytes),
  call('HLEN', prefix .. 'turns'), tonumber(counts[4] or 0), tonumber(usage[1] or 0), tonumber(usage[2] or 0),
  tonumber(usage[3] or 0), tonumber(usage[4] or 0), tonumber(usage[5] or 0) + tonumber(usage[6] or 0), tonumber(counts[5] or 0),
  tonumber(counts[6] or 0)}
