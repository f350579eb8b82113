-- The unit of work: records are loaded as images, operations change copies, lib/commit writes the difference.
-- Needs lib/scope and the locals `now` and `settings`.
-- Can fail: WRONGTYPE. Reads only.

local seq, clock = tonumber(meta[3] or 0), tonumber(meta[4] or 0)
local journal_bytes = tonumber(meta[5] or 0)
local half_life = tonumber(meta[6] or settings.half_life)
local salt = meta[7] or settings.salt
local newest_before = clock   -- no member of any index was touched later than this

local function fail(code, ...)
  error({code = code, detail = {...}})
end

local function next_seq()
  seq = seq + 1
  return seq
end

-- Touch times grow strictly within a scope, so ordering by them is ordering by save, whatever the wall clock does.
local function next_touch()
  clock = math.max(now, clock + 1)
  return clock
end

-- clue -> {clue, old = image or false, new = image or false, live = whether old is whole, why = how it left}.
-- An image holds the stored strings: record, filing, facts, terms, pin (since when), expires.
local units, order = {}, {}

local function load_all(clues)
  local missing = {}
  for _, clue in ipairs(clues) do
    if not units[clue] then
      missing[#missing + 1] = clue
      units[clue] = {clue = clue, old = false, new = false}
      order[#order + 1] = units[clue]
    end
  end
  if #missing == 0 then return end
  local records = in_chunks('HMGET', prefix .. 'impressions', missing)
  local filings = in_chunks('HMGET', prefix .. 'filing', missing)
  local facts = in_chunks('HMGET', prefix .. 'facts', missing)
  local terms = in_chunks('HMGET', prefix .. 'terms', missing)
  local pins = in_chunks('ZMSCORE', prefix .. 'pins', missing)
  local expiries = in_chunks('ZMSCORE', prefix .. 'expiry', missing)
  for i, clue in ipairs(missing) do
    if records[i] or filings[i] or facts[i] then
      local unit = units[clue]
      unit.old = {record = records[i], filing = filings[i], facts = facts[i], terms = terms[i],
                  pin = pins[i], expires = expiries[i]}
      if records[i] and filings[i] and facts[i] then
        unit.live = true
        unit.new = {record = records[i], filing = filings[i], facts = facts[i], terms = terms[i],
                    pin = pins[i], expires = expiries[i]}
      end
    end
  end
end

local function load(clue)
  if not units[clue] then load_all({clue}) end
  return units[clue]
end

-- Names as stored; a name that is new in this transaction is remembered for the operations after it.
local spelled = {}   -- kind UNIT folded -> name
local function name_of(kind, name)
  local real, folded = resolve(kind, name)
  local id = kind .. UNIT .. folded
  if spelled[id] then return spelled[id] end
  spelled[id] = real
  return real
end

local function filing_of(text)
  local categories, labels = read_filing(text)
  local kept, taken = {}, {}
  for i, category in ipairs(categories) do categories[i] = name_of('category', category) end
  for _, label in ipairs(labels) do
    label = name_of('label', label)
    if not taken[label] then
      taken[label] = true
      kept[#kept + 1] = label
    end
  end
  return write_filing(categories, kept)
end

-- When a record expires: after its own lifetime (ms), else after the scope's; pinned ones never do.
local function expiry_for(pin, lifetime)
  if lifetime == '' then lifetime = settings.ttl end
  if pin or lifetime == '' then return false end
  return whole(now + tonumber(lifetime))
end

-- One more revision; the record's times stay, since nobody said it anew.
local function bump_revision(unit)
  local facts = read_facts(unit.new.facts)
  facts.revision = facts.revision + 1
  unit.new.facts = write_facts(facts)
  return facts
end

-- `why`: 'forget', 'merge', 'evict' or 'expire'.
local function drop(unit, why)
  unit.new, unit.why = false, why
end

local function set_of(list)
  local set = {}
  for _, item in ipairs(list) do set[item] = true end
  return set
end
