-- Names and small readers shared by every script of one scope.
-- KEYS[1]  the scope's meta key; every other key is derived from it and shares its hash tag.
-- Can fail: nothing by itself.
--
-- Keys under the tag: meta, forgotten, threads, seen:<thread>. Under the generation: impressions, filing, facts, terms,
-- hints, spelling (hashes); categories, labels, clues, created, changed, withdrawn, pins, strength, expiry,
-- category:<c>, label:<l>, links:<l>, term:<t> (sorted sets); journal (stream).
local meta_key = KEYS[1]
local tag_prefix = string.sub(meta_key, 1, -5)
local generation = redis.call('HGET', meta_key, 'generation') or '0'
local prefix = tag_prefix .. generation .. ':'

local UNIT = '\31'    -- between the parts of a filing, and around lists of names
local GROUP = '\29'   -- between the categories of a filing
local RECORD = '\30'  -- between a folded name and its spelling
local CHUNK = 1000    -- the longest variadic call

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function whole(number)
  return string.format('%.0f', number)
end

-- Parts of a text between single separator bytes; empty parts are kept.
local function split(text, separator)
  local parts, from = {}, 1
  while true do
    local at = string.find(text, separator, from, true)
    if not at then
      parts[#parts + 1] = string.sub(text, from)
      return parts
    end
    parts[#parts + 1] = string.sub(text, from, at - 1)
    from = at + 1
  end
end

-- A filing is "<category>[GROUP<category>...]UNIT<label>UNIT<label>...".
local function read_filing(text)
  local labels = split(text, UNIT)
  local categories = split(table.remove(labels, 1), GROUP)
  return categories, labels
end

-- facts: created, updated, touched (ms), revision, seq, uses, used (ms), digest of the content, digest of the source
-- or '-'.
local function read_facts(text)
  local f = split(text, ' ')
  return {created = tonumber(f[1]), updated = tonumber(f[2]), touched = tonumber(f[3]), revision = tonumber(f[4]),
          seq = tonumber(f[5]), uses = tonumber(f[6]), used = tonumber(f[7]), digest = f[8], origin = f[9]}
end

local function write_facts(f)
  return table.concat({whole(f.created), whole(f.updated), whole(f.touched), whole(f.revision), whole(f.seq),
                       whole(f.uses), whole(f.used), f.digest, f.origin}, ' ')
end

-- The stored spelling of a name given as "<folded>" or "<folded>RECORD<shown>": what was written first stands.
-- kind is 'clue', 'category' or 'label'; known is the sorted set that lists existing names of that kind.
local known_names = {clue = 'clues', category = 'categories', label = 'labels'}
local function resolve(kind, name)
  local at = string.find(name, RECORD, 1, true)
  local folded = at and string.sub(name, 1, at - 1) or name
  local spelled = redis.call('HGET', prefix .. 'spelling', kind .. UNIT .. folded)
  if spelled then return spelled, folded end
  if not at then return name, folded end
  if redis.call('ZSCORE', prefix .. known_names[kind], folded) then return folded, folded end
  return string.sub(name, at + 1), folded
end

-- Calls command(key, ...members) in chunks that unpack can carry and appends every reply item to one list.
local function in_chunks(command, key, members)
  local replies = {}
  for from = 1, #members, CHUNK do
    local part = redis.call(command, key, unpack(members, from, math.min(from + CHUNK - 1, #members)))
    for i = 1, #part do replies[#replies + 1] = part[i] end
  end
  return replies
end
