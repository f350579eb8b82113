-- What a thread's maintenance has distilled.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  thread
-- Reply: {generation, count of turns ever distilled, now in ms, turn that failed last or '', how often in a row,
--         id of a turn...} oldest first, at most 500
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
local members = call('ZRANGE', tag_prefix .. 'seen:' .. ARGV[1], 0, -1)
local failed, tries = string.match(call('HGET', tag_prefix .. 'failures', ARGV[1]) or '', '^(%S+) (%d+)$')
local out = {generation, '0', whole(now_ms()), failed or '', tries or '0'}
for _, member in ipairs(members) do
  local at = string.find(member, ' ', 1, true)
  out[2] = string.sub(member, 1, at - 1)
  out[#out + 1] = string.sub(member, at + 1)
end
return out
