-- Journal entries, newest first.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  id to go on from, exclusive, or ''    ARGV[2]  most entries
-- ARGV[3]  only entries that name this clue ("<folded>" or "<folded>RECORD<spelling>"), or ''
-- Reply: {last id looked at or '', {field, value, ...}, ...}
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
local from, most, clue = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if clue ~= '' then clue = resolve('clue', clue) end
local page = call('XREVRANGE', prefix .. 'journal', from == '' and '+' or '(' .. from, '-', 'COUNT', most)
local out = {''}
for _, entry in ipairs(page) do
  out[1] = entry[1]
  local keep = clue == ''
  for i = 1, #entry[2], 2 do
    if entry[2][i] == 'clues' and clue ~= '' then
      keep = string.find(entry[2][i + 1], UNIT .. clue .. UNIT, 1, true) and true or false
    end
  end
  if keep then out[#out + 1] = entry[2] end
end
return out
