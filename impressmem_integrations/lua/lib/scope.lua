-- Names and small readers shared by every script of one scope.
-- KEYS[1]  the scope's meta key; every other key is derived from it and shares its hash tag.
-- Can fail: WRONGTYPE when meta is not a hash.
--
-- Keys under the tag: meta, usage, failures (hashes); forgotten, threads, seen:<thread> (sorted sets).
-- Under the generation: impressions, filing, facts, terms, name-terms, hints, spelling, plans, turns, turn-terms,
-- turn-places, snapshot:<profile> (hashes); categories, labels, clues, created, changed, withdrawn, pins, strength,
-- expiry, snapshots, name-words, category:<c>, label:<l>, links:<l> (sorted sets); journal (stream); and the keys of
-- posting lists, once for impressions and once with `turn-` in front (lib/postings).
local call = redis.call
local meta_key = KEYS[1]
local tag_prefix = string.sub(meta_key, 1, -5)
local meta = call('HMGET', meta_key, 'generation', 'layout', 'seq', 'clock', 'journal_bytes', 'half_life', 'salt')
local generation = meta[1] or '0'
local prefix = tag_prefix .. generation .. ':'

local UNIT = '\31'    -- between the parts of a filing, and around lists of names
local GROUP = '\29'   -- between the categories of a filing
local RECORD = '\30'  -- between a folded name and its spelling
local CHUNK = 1000    -- the longest variadic call

local function now_ms()
  local time = call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function whole(number)
  return string.format('%.0f', number)
end

-- A filing is "<category>[GROUP<category>...][UNIT<label>...]". Returns categories, labels.
local function read_filing(text)
  local first, rest = string.match(text, '^([^\31]*)(.*)$')
  local categories, labels = {}, {}
  for name in string.gmatch(first, '[^\29]+') do categories[#categories + 1] = name end
  for name in string.gmatch(rest, '[^\31]+') do labels[#labels + 1] = name end
  return categories, labels
end

local function write_filing(categories, labels)
  local first = categories[2] and table.concat(categories, GROUP) or categories[1]
  return labels[1] and first .. UNIT .. table.concat(labels, UNIT) or first
end

-- facts: created, updated, touched (ms), revision, seq, uses, used (ms), digest of the content, digests
-- of the sources joined by commas, or '-'.
local function read_facts(text)
  local created, updated, touched, revision, seq, uses, used, digest, origin =
    string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+)$')
  return {created = tonumber(created), updated = tonumber(updated), touched = tonumber(touched),
          revision = tonumber(revision), seq = tonumber(seq), uses = tonumber(uses), used = tonumber(used),
          digest = digest, origin = origin}
end

local function write_facts(f)
  return string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %s %s', f.created, f.updated, f.touched, f.revision, f.seq,
    f.uses, f.used, f.digest, f.origin)
end

local known_names = {clue = 'clues', category = 'categories', label = 'labels'}
local any_spelling = nil

-- The stored spelling of a name given as "<folded>" or "<folded>RECORD<shown>": what was written first stands.
-- kind is 'clue', 'category' or 'label'. Returns the name and its folded form.
local function resolve(kind, name)
  if any_spelling == nil then any_spelling = call('HLEN', prefix .. 'spelling') > 0 end
  local at = string.find(name, RECORD, 1, true)
  local folded = at and string.sub(name, 1, at - 1) or name
  if any_spelling then
    local spelled = call('HGET', prefix .. 'spelling', kind .. UNIT .. folded)
    if spelled then return spelled, folded end
  end
  if not at then return name, folded end
  if call('ZSCORE', prefix .. known_names[kind], folded) then return folded, folded end
  return string.sub(name, at + 1), folded
end

-- Calls command(key, ...members) in chunks that unpack can carry; returns one list of all replies that are lists.
local function in_chunks(command, key, members)
  if #members <= CHUNK then return call(command, key, unpack(members)) end
  local replies = {}
  for from = 1, #members, CHUNK do
    local part = call(command, key, unpack(members, from, math.min(from + CHUNK - 1, #members)))
    for i = 1, type(part) == 'table' and #part or 0 do replies[#replies + 1] = part[i] end
  end
  return replies
end
