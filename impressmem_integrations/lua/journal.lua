-- Journal entries, newest first.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  id to go on from, exclusive, or ''    ARGV[2]  most entries
-- ARGV[3]  only entries that name this clue ("<folded>" or "<folded>RECORD<spelling>"), or ''
-- Reply: {last id looked at or '', {field, value, ...}, ...}
--   fields as lib/journal writes them, and `records`: two netstrings, clue and record, for each image without a record
--   of its own, where the record can be told.
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/entries
local from, most, clue = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if clue ~= '' then clue = resolve('clue', clue) end
local key = prefix .. 'journal'

-- Calls visit(clue, record, facts) for each before-image.
local function each_image(text, visit)
  local at = 1
  while at <= #text do
    local parts = {}
    for i = 1, 6 do
      local colon = string.find(text, ':', at, true)
      local size = tonumber(string.sub(text, at, colon - 1))
      parts[i] = string.sub(text, colon + 1, colon + size)
      at = colon + size + 2
    end
    visit(parts[1], parts[2], parts[4])
  end
end

local after = {}   -- clue -> its record after the entry looked at, false: not to be told; absent: it is what is stored

-- What the images of an entry leave out, and the records as they were before it.
local function look_at(fields)
  local left_out = {}
  if fields.before == '' then
    for name in string.gmatch(fields.clues, '[^\31]+') do after[name] = false end
  end
  each_image(fields.before, function(name, record, facts)
    if record == '' and facts ~= '' then
      if after[name] == nil then after[name] = call('HGET', prefix .. 'impressions', name) end
      record = after[name]
      if record then left_out[#left_out + 1] = #name .. ':' .. name .. ',' .. #record .. ':' .. record .. ',' end
    end
    after[name] = record
  end)
  return table.concat(left_out)
end

if from ~= '' then
  for _, entry in ipairs(call('XREVRANGE', key, '+', from)) do look_at(fields_of(entry)) end
end
local out = {''}
for _, entry in ipairs(call('XREVRANGE', key, from == '' and '+' or '(' .. from, '-', 'COUNT', most)) do
  local fields, flat = fields_of(entry), entry[2]
  local records = look_at(fields)
  out[1] = entry[1]
  if clue == '' or string.find(fields.clues, UNIT .. clue .. UNIT, 1, true) then
    flat[#flat + 1], flat[#flat + 2] = 'records', records
    out[#out + 1] = flat
  end
end
return out
