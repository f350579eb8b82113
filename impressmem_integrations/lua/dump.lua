-- A bounded part of what some keys of a scope hold, for check and repair.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  most items    ARGV[2]  bytes after which the part ends    ARGV[3]  cursor in the first key ('' at its start)
-- ARGV[4..]  names of keys after the tag
-- Reply: {version (lib/version), position among the names to go on from or 0, cursor in it,
--         {position, kind, items}...}
--   items  hash: field, value, ...   zset: member, score, ...   stream: id, bytes as noted, bytes as counted, ...
--          any other kind: nothing
-- An item may come twice.
-- Can fail: nothing. Reads only.
--#include lib/version
local STEP = 100
local most, most_bytes, cursor = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local out = {version(), 0, ''}
local items, bytes = 0, 0

-- Each reader returns flat items, how many, and the next cursor ('' at the end).
local readers = {}

local function scan(command)
  return function(key, from)
    local page = redis.call(command, key, from == '' and '0' or from, 'COUNT', STEP)
    return page[2], #page[2] / 2, page[1] == '0' and '' or page[1]
  end
end
readers.hash, readers.zset = scan('HSCAN'), scan('ZSCAN')

function readers.stream(key, from)
  local page = redis.call('XRANGE', key, from == '' and '-' or '(' .. from, '+', 'COUNT', STEP)
  local flat = {}
  for _, entry in ipairs(page) do
    local fields = {}
    for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
    local size = 100
    for _, name in ipairs({'before', 'clues', 'source', 'reason'}) do size = size + #(fields[name] or '') end
    flat[#flat + 1], flat[#flat + 2], flat[#flat + 3] = entry[1], fields.bytes or '', tostring(size)
  end
  return flat, #page, #page == STEP and page[#page][1] or ''
end

for position = 1, #ARGV - 3 do
  local key = tag_prefix .. ARGV[position + 3]
  local kind = kind_of(key)
  local part = {position, kind, {}}
  out[#out + 1] = part
  local read = readers[kind]
  local before_first = items
  repeat
    if not read then break end
    if items > before_first and (items >= most or bytes >= most_bytes) then
      out[2], out[3] = position, cursor
      return out
    end
    local flat, count
    flat, count, cursor = read(key, cursor)
    for i = 1, #flat do
      part[3][#part[3] + 1] = flat[i]
      bytes = bytes + #flat[i]
    end
    items = items + count
  until cursor == ''
  cursor = ''
  if (items >= most or bytes >= most_bytes) and position < #ARGV - 3 then
    out[2] = position + 1
    return out
  end
end
return out
