-- Records to mix a context from: the pinned ones, and others both newest first and spread over the newest categories.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  most pinned records   ARGV[2]  most others   ARGV[3]  most categories
-- ARGV[4]  bytes of other records after which reading ends
-- ARGV[5]  bytes above which a record does not count for ARGV[4], since it will not fit (reading ends at 16 times ARGV[4])
-- Reply: {impressions that readers see, number of pinned rows, row...}
-- The pinned rows come first, oldest pin first; the order of the others carries no meaning.
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
--#include lib/living
local most_pins, most, most_categories = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local bytes, largest = tonumber(ARGV[4]), tonumber(ARGV[5])
local now = now_ms()
local out = {(count_living(now)), 0}
local head = #out
local pins = call('ZRANGE', prefix .. 'pins', 0, most_pins - 1)
append_rows(out, pins, now)
out[head] = #out - head
local taken, order = {}, {}
for _, clue in ipairs(pins) do taken[clue] = true end
local function take(clue)
  if clue and not taken[clue] and #order < most then
    taken[clue] = true
    order[#order + 1] = clue
  end
end
local newest = call('ZREVRANGE', prefix .. 'clues', 0, most + #pins - 1)
local categories = call('ZREVRANGE', prefix .. 'categories', 0, most_categories - 1)
local each = math.max(1, math.ceil(2 * most / math.max(1, #categories)))
local lanes, longest = {}, 0
for i, category in ipairs(categories) do
  lanes[i] = call('ZREVRANGE', prefix .. 'category:' .. category, 0, each - 1)
  longest = math.max(longest, #lanes[i])
end
local spread = {}
for round = 1, longest do
  for _, lane in ipairs(lanes) do
    if lane[round] then spread[#spread + 1] = lane[round] end
  end
end
for i = 1, math.max(#newest, #spread) do
  take(newest[i])
  take(spread[i])
end
local before, counted = 0, 0
append_rows(out, order, now, function(sum)
  if sum - before <= largest then counted = counted + sum - before end
  before = sum
  return counted >= bytes or sum >= 16 * bytes
end)
return out
