-- Records filed under a category and labels, and the labels that occur with them.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  category or ''   ARGV[2]  bytes after which reading ends   ARGV[3]  most records   ARGV[4..]  labels
-- Reply: {found, kinds, labels, names, row...}
--   found   how many different clues match, at least    kinds   per clue of the rows: how many of the asked names it matches
--   labels  of the matching records, newest first, at most 200
--   names   when an asked name does not exist: existing names of its kind, newest first, at most 500
-- Order of the rows: those matching most of the asked names first, then newest first. With neither category nor
-- labels: the newest records.
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
--#include lib/living
local category, bytes, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local asked, missing = {}, {}
if category ~= '' then asked[1] = {'category', resolve('category', category)} end
for i = 4, #ARGV do asked[#asked + 1] = {'label', resolve('label', ARGV[i])} end
local now = now_ms()
local over, is_over = expired(now)
local hits, touched, found = {}, {}, 0
local function take(key)
  local page, taken, passed = call('ZREVRANGE', key, 0, most + #over - 1, 'WITHSCORES'), 0, 0
  for i = 1, #page, 2 do
    if is_over[page[i]] then
      passed = passed + 1
    elseif taken < most then
      taken = taken + 1
      hits[page[i]] = (hits[page[i]] or 0) + 1
      touched[page[i]] = tonumber(page[i + 1])
    end
  end
  found = math.max(found, call('ZCARD', key) - passed)
end
for _, name in ipairs(asked) do
  take(prefix .. name[1] .. ':' .. name[2])
  if not call('ZSCORE', prefix .. known_names[name[1]], name[2]) then missing[name[1]] = true end
end
if #asked == 0 then take(prefix .. 'clues') end
local order = {}
for clue in pairs(hits) do order[#order + 1] = clue end
table.sort(order, function(a, b)
  if hits[a] ~= hits[b] then return hits[a] > hits[b] end
  if touched[a] ~= touched[b] then return touched[a] > touched[b] end
  return a < b
end)
local names = {}
for kind in pairs(missing) do
  for _, name in ipairs(call('ZREVRANGE', prefix .. known_names[kind], 0, 499)) do names[#names + 1] = name end
end
local out = {math.max(found, #order), {}, {}, names}
if #order == 0 then return out end
local named = {}
append_rows(out, order, now, function(sum, clue, filing)
  out[2][#out[2] + 1] = hits[clue]
  local _, labels = read_filing(filing)
  for _, label in ipairs(labels) do
    if not named[label] and #out[3] < 200 then
      named[label] = true
      out[3][#out[3] + 1] = label
    end
  end
  return sum >= bytes
end)
return out
