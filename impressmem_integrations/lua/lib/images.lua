-- The unit of work: records are loaded as images, operations change them, lib/plan finds the difference.
-- Needs lib/scope and lib/settings.
-- Can fail: WRONGTYPE. Reads only.
--
-- A server makes every function anew at each call of a script and pays for each local that it captures: so what is
-- shared stands in one table a file.
local work = {
  seq = tonumber(meta[3] or 0),
  clock = tonumber(meta[4] or 0),           -- no member of any index was touched later than this
  newest_before = tonumber(meta[4] or 0),   -- the same when the script began
  half_life = tonumber(meta[6] or settings.half_life),
  salt = meta[7] or settings.salt,
  weak_from = tonumber(meta[9] or 0),       -- nothing that `is_plain` was touched before it
  floor = tonumber(meta[8] or 0),           -- the newest change that `changed` and `withdrawn` no longer tell of
  expiring = true,                          -- false: no record of the scope ever expires
  units = {}, order = {},                   -- clue -> unit; the units as they were loaded
  refiling = false, refiled = {},           -- lib/refiling where it is used; clue -> what it changes of a record
  spelled = {clue = {}, category = {}, label = {}},   -- folded -> name, for the operations after the first that says it
  filed = {},                               -- filing -> {categories, labels}
}

local function fail(code, ...)
  error({code = code, detail = {...}})
end

function work.next_seq()
  work.seq = work.seq + 1
  return work.seq
end

-- Touch times grow strictly within a scope, so ordering by them is ordering by save, whatever the wall clock does.
function work.next_touch()
  work.clock = math.max(now, work.clock + 1)
  return work.clock
end

-- A unit: clue, old and new (images, or false for no record), live (whether old is whole), why it left: 'forget',
-- 'merge', 'evict' or 'expire', said (its content is looked up among the others' even if it is the same as before).
-- An image holds the stored strings: record, filing, facts, terms, pin (since when), expires. `new` is `old` itself
-- until an operation replaces it: nothing changes an image that was loaded. An image may hold its facts as read, too.
-- lib/plan adds the rest.
local NOTHING = {}

local function add_unit(clue, record, filing, facts, terms, pin, expires)
  local unit = {clue = clue, old = false, new = false, live = false, why = false, facts = false, before = false,
                moved = false, changed = false, leaves = false, enters = false, retermed = false,
                entered = false, said = false, twin = false, weakens = false, alike = false, yields = false}
  if record or filing or facts then
    unit.old = {record = record, filing = filing, facts = facts, terms = terms, pin = pin, expires = expires}
    if record and filing and facts then
      unit.live, unit.new = true, unit.old
    end
  end
  work.units[clue] = unit
  work.order[#work.order + 1] = unit
  if work.refiled[clue] then work.refiling.take_over(unit) end
  return unit
end

-- Whether this transaction has loaded a record, and may write it.
function work.is_loaded(clue)
  return work.units[clue] or work.refiled[clue]
end

function work.count_loaded()
  return #work.order + (work.refiling and #work.refiling.order or 0)
end

function work.load_all(clues)
  local missing, listed = {}, {}
  for _, clue in ipairs(clues) do
    if not work.units[clue] and not listed[clue] then
      missing[#missing + 1], listed[clue] = clue, true
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
    add_unit(clue, records[i], filings[i], facts[i], terms[i], pins[i], expiries[i])
  end
end

function work.load(clue)
  return work.units[clue] or add_unit(clue, call('HGET', prefix .. 'impressions', clue),
    call('HGET', prefix .. 'filing', clue), call('HGET', prefix .. 'facts', clue), call('HGET', prefix .. 'terms', clue),
    call('ZSCORE', prefix .. 'pins', clue), work.expiring and call('ZSCORE', prefix .. 'expiry', clue))
end

-- The facts of an image, read once. Not to be changed.
function work.facts_of(image)
  local counted = image.counted
  if not counted then
    counted = read_facts(image.facts)
    image.counted = counted
  end
  return counted
end

-- Whether a clue stands in `strength`. Any other that is not pinned is plain: its strength is its touch / half-life, so
-- the order of `clues` is their order.
function work.is_strong(pin, facts)
  return not pin and (facts.uses > 0 or facts.used > facts.touched)
end

function work.strength(facts)
  local uses = facts.uses == 0 and 0 or math.log(1 + math.log(1 + facts.uses)) / math.log(2)
  return uses + math.max(facts.touched, facts.used) / work.half_life
end

-- The name as stored; one that is new in this transaction is remembered for the operations after it.
function work.name_of(kind, name)
  local real, folded = resolve(kind, name)
  local spelled = work.spelled[kind]
  if not spelled[folded] then spelled[folded] = real end
  return spelled[folded]
end

-- Categories and labels of a filing. The lists are shared: not to be changed.
function work.names_in(filing)
  local names = work.filed[filing]
  if not names then
    names = {read_filing(filing)}
    work.filed[filing] = names
  end
  return names[1], names[2]
end

-- The filing of some names. The lists are kept for names_in: not to be changed any more.
function work.file(categories, labels)
  local filing = write_filing(categories, labels)
  if not work.filed[filing] then work.filed[filing] = {categories, labels} end
  return filing
end

-- A filing as asked for, with the names as stored.
function work.filing_of(text)
  local categories, labels = work.names_in(text)
  local groups, kept, taken = {}, {}, {}
  for i, category in ipairs(categories) do groups[i] = work.name_of('category', category) end
  for _, label in ipairs(labels) do
    label = work.name_of('label', label)
    if not taken[label] then
      taken[label] = true
      kept[#kept + 1] = label
    end
  end
  return work.file(groups, kept)
end

-- When a record expires: after its own lifetime (ms), else after the scope's; pinned ones never do.
function work.expiry_for(pin, lifetime)
  if lifetime == '' then lifetime = settings.ttl end
  if pin or lifetime == '' then return false end
  return whole(now + tonumber(lifetime))
end

local function set_of(list)
  local set = {}
  for _, item in ipairs(list) do set[item] = true end
  return set
end

-- Where a record came from, so far and now: digests joined by commas, newest last, at most eight; '-' for nowhere.
function work.origins(before, after)
  if before == '-' or before == after then return after end
  if after == '-' then return before end
  local list, taken = {}, {}
  for digest in string.gmatch(before .. ',' .. after, '[^,-][^,]*') do list[#list + 1] = digest end
  local kept = {}
  for i = #list, 1, -1 do
    if not taken[list[i]] and #kept < 8 then
      taken[list[i]] = true
      table.insert(kept, 1, list[i])
    end
  end
  return table.concat(kept, ',')
end
