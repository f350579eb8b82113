-- Names and small readers shared by every script of one scope.
-- KEYS[1]  the scope's meta key; every other key is derived from it and shares its hash tag.
-- Can fail: WRONGTYPE when meta is not a hash; CORRUPT when a counter in it is none. Both before anything is done.
--
-- Keys under the tag: meta, usage, failures (hashes); forgotten, threads, seen:<thread> (sorted sets).
-- Under the generation: impressions, filing, facts, terms, name-terms, twins, alike, alike-names, spelling, plans, turns,
-- turn-terms, turn-places, snapshot:<profile> (hashes); categories, labels, clues, created, changed, withdrawn, pins,
-- strength, expiry, snapshots, name-words, category:<c>, label:<l>, links:<l> (sorted sets); journal (stream); and the
-- keys of posting lists, once for impressions and once with `turn-` in front (lib/postings).
local call = redis.call
local meta_key = KEYS[1]
local tag_prefix = string.sub(meta_key, 1, -5)
local meta = call('HMGET', meta_key, 'generation', 'layout', 'seq', 'clock', 'journal_bytes', 'half_life', 'salt',
  'delta_floor', 'weak_from', 'turn_first', 'turn_next', 'turn_bytes')
local CORRUPT = 'CORRUPT a counter of this scope is no number'

-- Whether what is there of some fields are whole numbers: somebody else may have written to them.
local function are_counts(fields, from, to)
  for i = from, to do
    if fields[i] and (#fields[i] > 17 or not string.find(fields[i], '^%-?%d+$')) then return false end
  end
  return true
end
if not (are_counts(meta, 1, 1) and are_counts(meta, 3, 6) and are_counts(meta, 8, 12)) then
  return redis.error_reply(CORRUPT)
end
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

-- facts: what the server counts for a record, short enough to stand in a compact hash (64 bytes):
--   digest of the content, created (ms), updated - created, touched - updated, revision, seq
--   [uses, used - created]   left out where both are 0
--   [digests of the sources, joined by commas]   left out for '-', none
-- The same facts always give the same text.
local function read_facts(text)
  local digest, created, updated, touched, revision, seq, rest =
    string.match(text, '^(%S+) (%d+) (%-?%d+) (%-?%d+) (%d+) (%d+)(.*)$')
  created = tonumber(created)
  updated = created + tonumber(updated)
  local uses, used, origin = 0, 0, '-'
  if rest ~= '' then
    local count, since, others = string.match(rest, '^ (%d+) (%-?%d+)(.*)$')
    if count then uses, used, rest = tonumber(count), created + tonumber(since), others end
    if rest ~= '' then origin = string.sub(rest, 2) end
  end
  return {created = created, updated = updated, touched = updated + tonumber(touched), revision = tonumber(revision),
          seq = tonumber(seq), uses = uses, used = used, digest = digest, origin = origin}
end

-- When a record was created and its seq, where no more of its facts is wanted.
local function created_in(text)
  local created, seq = string.match(text, '^%S+ (%d+) %-?%d+ %-?%d+ %d+ (%d+)')
  return tonumber(created), tonumber(seq)
end

local function write_facts(f)
  local text = string.format('%s %.0f %.0f %.0f %.0f %.0f', f.digest, f.created, f.updated - f.created,
    f.touched - f.updated, f.revision, f.seq)
  if f.uses > 0 or f.used > 0 then text = string.format('%s %.0f %.0f', text, f.uses, f.used - f.created) end
  return f.origin == '-' and text or text .. ' ' .. f.origin
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
