-- One page of records.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  index: 'clues' (by last touch), 'created', 'pins', 'category' or 'label'
-- ARGV[2]  the category's or label's name, else ''
-- ARGV[3]  'new' (highest score first) or 'old'
-- ARGV[4]  score to go on from, inclusive, or ''     ARGV[5]  the last clue seen at that score, or ''
-- ARGV[6]  most rows                                ARGV[7]  bytes after which the page ends
-- Reply: {score of the last member looked at or '', that member or '', 1 if more may follow, row...}
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
--#include lib/living
local index, name, newest = ARGV[1], ARGV[2], ARGV[3] == 'new'
local key = prefix .. index
if index == 'category' or index == 'label' then key = key .. ':' .. resolve(index, name) end
local from, after, most, bytes = ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local command = newest and 'ZREVRANGEBYSCORE' or 'ZRANGEBYSCORE'
local low, high = '-inf', '+inf'
local start = from ~= '' and from or (newest and high or low)
local now = now_ms()
local _, is_over = expired(now)
local clues, scores, offset = {}, {}, 0
while #clues < most do
  local page = call(command, key, start, newest and low or high, 'WITHSCORES', 'LIMIT', offset, most)
  if #page == 0 then break end
  for i = 1, #page, 2 do
    local past = from ~= '' and page[i + 1] == from
      and ((newest and page[i] >= after) or (not newest and page[i] <= after))
    if not past and not is_over[page[i]] and #clues < most then
      clues[#clues + 1], scores[#scores + 1] = page[i], page[i + 1]
    end
  end
  if #page < 2 * most then break end
  offset = offset + most
end
if #clues == 0 then return {'', '', 0} end
local out = {'', '', 0}
local looked = append_rows(out, clues, now, function(sum) return sum >= bytes end)
out[1], out[2] = scores[looked], clues[looked]
out[3] = (looked < #clues or #clues == most) and 1 or 0
return out
