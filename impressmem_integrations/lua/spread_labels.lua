-- Labels spread over the newest categories: the newest of each, then the second newest of each, and so on.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  most categories   ARGV[2]  most labels
-- Reply: {name, score, name, score, ...}, each name once; the score is the touch of the record it was found at.
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
local most_categories, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local categories = call('ZREVRANGE', prefix .. 'categories', 0, most_categories - 1)
local each = math.max(1, math.ceil(2 * most / math.max(1, #categories)))
-- Labels of a category are not indexed: its newest records' filings name them.
local lanes, longest = {}, 0
for i, category in ipairs(categories) do
  local members = call('ZREVRANGE', prefix .. 'category:' .. category, 0, math.min(each, CHUNK) - 1, 'WITHSCORES')
  local clues, lane, taken = {}, {}, {}
  for at = 1, #members, 2 do clues[#clues + 1] = members[at] end
  local filings = clues[1] and in_chunks('HMGET', prefix .. 'filing', clues) or {}
  for at = 1, #clues do
    if filings[at] and #lane < each then
      local _, labels = read_filing(filings[at])
      for _, label in ipairs(labels) do
        if not taken[label] then
          taken[label] = true
          lane[#lane + 1] = {label, members[2 * at]}
        end
      end
    end
  end
  lanes[i] = lane
  longest = math.max(longest, #lane)
end
local out, seen = {}, {}
for round = 1, longest do
  for _, lane in ipairs(lanes) do
    local found = lane[round]
    if found and not seen[found[1]] and #out < 2 * most then
      seen[found[1]] = true
      out[#out + 1], out[#out + 2] = found[1], found[2]
    end
  end
end
return out
