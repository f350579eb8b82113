-- One page of names with the time of their last touch.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  'categories', 'labels', 'clues', 'pins', 'expiry' (by when it is over), 'category' (clues of one), 'label'
--          (clues of one) or 'category-labels' (labels of one category's records)
-- ARGV[2]  the category's or label's name, else ''
-- ARGV[3]  'new' or 'old'    ARGV[4]  lowest score allowed    ARGV[5]  highest score allowed ('(n' excludes n)
-- ARGV[6]  offset            ARGV[7]  most
-- Reply: {name, score, name, score, ...}
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
local kind, newest = ARGV[1], ARGV[3] == 'new'
local low, high, offset, most = ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local command = newest and 'ZREVRANGEBYSCORE' or 'ZRANGEBYSCORE'
local function page(key)
  return call(command, key, newest and high or low, newest and low or high, 'WITHSCORES', 'LIMIT', offset, most)
end
if kind == 'category' or kind == 'label' then
  return page(prefix .. kind .. ':' .. resolve(kind, ARGV[2]))
end
if kind ~= 'category-labels' then return page(prefix .. kind) end
-- labels of a category are not indexed: the newest members' filings name them
local members = call('ZREVRANGEBYSCORE', prefix .. 'category:' .. resolve('category', ARGV[2]), high, low,
  'WITHSCORES', 'LIMIT', 0, CHUNK)
local clues, scores = {}, {}
for i = 1, #members, 2 do clues[#clues + 1], scores[#scores + 1] = members[i], members[i + 1] end
if #clues == 0 then return {} end
local filings = in_chunks('HMGET', prefix .. 'filing', clues)
local out, taken = {}, {}
for i = 1, #clues do
  if filings[i] then
    local _, labels = read_filing(filings[i])
    for _, label in ipairs(labels) do
      if not taken[label] then
        taken[label] = true
        out[#out + 1], out[#out + 2] = label, scores[i]
      end
    end
  end
end
local slice = {}
for i = offset * 2 + 1, math.min(#out, (offset + most) * 2) do slice[#slice + 1] = out[i] end
return slice
