-- Unlinks keys of an erased generation, at most a bounded number a call. Safe to run again.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  the generation to remove    ARGV[2]  most names or records to look at
-- Reply: 1 if more is left, 0 when the generation is gone
-- Can fail: WRONGTYPE.
--#include lib/scope
local gone, most = tag_prefix .. ARGV[1] .. ':', tonumber(ARGV[2])
if ARGV[1] == generation then return redis.error_reply('ERR that generation is in use') end
for _, pair in ipairs({{'categories', {'category:'}}, {'labels', {'label:', 'links:'}}}) do
  local names = call('ZPOPMIN', gone .. pair[1], most)
  for i = 1, #names, 2 do
    for _, index in ipairs(pair[2]) do call('UNLINK', gone .. index .. names[i]) end
  end
  if #names == 2 * most then return 1 end
end
for _, index in ipairs({'', 'turn-'}) do   -- a term with a key of its own has an empty list in `postings`
  local lists, page = gone .. index .. 'postings', {'0'}
  repeat   -- a large hash that lost its first fields begins with pages of none
    page = call('HSCAN', lists, page[1], 'COUNT', most)
  until page[2][1] or page[1] == '0'
  for i = 1, #page[2], 2 do
    if page[2][i + 1] == '' then call('UNLINK', gone .. index .. 'term:' .. page[2][i]) end
    call('HDEL', lists, page[2][i])
  end
  if call('EXISTS', lists) == 1 then return 1 end
  for bucket = 0, 15 do call('UNLINK', gone .. index .. 'posting:' .. bucket) end
end
for _, profile in ipairs(call('ZRANGE', gone .. 'snapshots', 0, -1)) do call('UNLINK', gone .. 'snapshot:' .. profile) end
for _, name in ipairs({'impressions', 'filing', 'facts', 'terms', 'twins', 'alike', 'alike-names', 'spelling',
                       'name-terms', 'name-words', 'clues', 'created', 'changed', 'withdrawn', 'pins', 'strength',
                       'expiry', 'journal', 'plans', 'snapshots', 'turns', 'turn-terms', 'turn-places'}) do
  call('UNLINK', gone .. name)
end
local left = {}
for other in string.gmatch(call('HGET', meta_key, 'purge') or '', '[^,]+') do
  if other ~= ARGV[1] then left[#left + 1] = other end
end
if #left > 0 then
  call('HSET', meta_key, 'purge', table.concat(left, ','))
else
  call('HDEL', meta_key, 'purge')
end
return 0
