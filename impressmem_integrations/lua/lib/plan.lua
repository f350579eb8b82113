-- Finds the difference between old and new images, reads what its writes depend on, and probes every key about to be
-- written for its type (which also touches it, so a Cluster slot on the move fails before the first write).
-- Needs lib/images and lib/posting_writes.
-- Can fail: WRONGTYPE, MOVED, ASK. Reads only.
local plan = {
  members = {},                         -- key -> how many members it had before; also says that it was probed
  dirty = {category = {}, label = {}},  -- name -> newest touch written now, or 0: look it up afterwards
  created = {clue = {}, category = {}, label = {}},   -- name -> true
  links = {},                           -- label -> label -> change of the count
  noted = {changed = {}, withdrawn = {}},             -- seq, clue, ... of what changed, and of what leaves
  removals = false,                     -- whether a record or a filing leaves
  owners = {twins = {}, alike = {}, ['alike-names'] = {}},    -- key of hints -> field -> value or false, as it will be
  hints = {twins = {}, alike = {}, ['alike-names'] = {}},     -- the same, value to write, or false to remove
  waiting = {twins = {}, alike = {}, ['alike-names'] = {}},   -- the same, new value that takes it if its owner goes
  clues = {},                           -- seq as text -> clue, of the records that this transaction writes
  similar = {clue = {}, category = {}, label = {}},   -- kind -> new name -> existing name that looks alike, or false
  gone = {category = {}, label = {}},   -- name -> true: lost its last member
  terms_read = {}, terms_change = {},   -- terms whose lists change; flat document, weight or 0, whether it stands there
  words = postings.index(''),           -- the posting lists of impressions
}

function plan.probe(key)
  local count = plan.members[key]
  if not count then
    count = call('ZCARD', key)
    plan.members[key] = count
  end
  return count
end

local function loosen(name)
  return (string.gsub(string.lower(name), '[%s%-_%.]', ''))
end

-- Hints at equal contents and at other spellings: one owner per field, and only ever something that lives.
--   twins        beginning of a content's digest -> seq of a clue of that content
--   alike        beginning of the SHA-1 of a loosened clue -> seq of the clue
--   alike-names  'c' or 'l', for categories and labels, and the same of a loosened name -> the name
-- Short, so that those of hundreds of notes stand in compact hashes. Two may meet in a field by chance: what a hint
-- names is compared whole before it is told to anybody.
local function twin_field(digest)
  return string.sub(digest, 1, 6)
end

local function alike_field(kind, name)
  local beginning = string.sub(redis.sha1hex(loosen(name)), 1, 8)
  return kind == 'clue' and beginning or string.sub(kind, 1, 1) .. beginning
end

-- Reads who has the fields, for those that will ask.
function plan.read_hints(key, fields)
  local owners, unknown = plan.owners[key], {}
  for _, field in ipairs(fields) do
    if owners[field] == nil then unknown[#unknown + 1] = field end
  end
  if not unknown[1] then return end
  local found = in_chunks('HMGET', prefix .. key, unknown)
  for i, field in ipairs(unknown) do owners[field] = found[i] end
end

-- Takes the field for the name, whose value is its seq or itself, if nobody has it. Returns another name that has it,
-- or false.
function plan.hint(key, field, value, name)
  local owner = plan.owners[key][field]
  if owner == value then return false end
  if owner then
    local other = owner
    if key ~= 'alike-names' then
      other = plan.clues[owner] or call('ZRANGEBYSCORE', prefix .. 'created', owner, owner, 'LIMIT', 0, 1)[1]
    end
    if other and other ~= name then
      plan.waiting[key][field] = value
      return other
    end
  end
  plan.owners[key][field], plan.hints[key][field] = value, value
  return false
end

function plan.unhint(key, field, value)
  if plan.owners[key][field] == value then plan.owners[key][field], plan.hints[key][field] = false, false end
end

-- Another clue of the same content, or false.
local function twin_of(unit)
  local digest = unit.facts.digest
  local twin = plan.hint('twins', twin_field(digest), whole(unit.facts.seq), unit.clue)
  if not twin then return false end
  local other = work.units[twin]
  local facts = other and other.new and other.new.facts or call('HGET', prefix .. 'facts', twin) or ''
  return string.sub(facts, 1, #digest + 1) == digest .. ' ' and twin
end

local function add_link(a, b, change)
  local others = plan.links[a]
  if not others then
    others = {}
    plan.links[a] = others
  end
  others[b] = (others[b] or 0) + change
end

function plan.count_link(a, b, change)
  add_link(a, b, change)
  add_link(b, a, change)
end

-- The pairs of labels that one of the lists has and the other has not: those with a label of its own.
function plan.count_links(labels, others, change)
  local shared = others[1] and set_of(others) or NOTHING
  for i, a in ipairs(labels) do
    for j = i + 1, #labels do
      local b = labels[j]
      if a ~= b and not (shared[a] and shared[b]) then
        plan.count_link(a, b, change)
      end
    end
  end
end

-- What changes in one kind of index: keys the record leaves, and keys it enters or is touched under.
function plan.names(unit, kind, old_names, new_names)
  local moved, facts, dirty = unit.moved, unit.facts, plan.dirty[kind]
  if old_names == new_names and not moved then return end
  local index, old = prefix .. kind .. ':', nil
  if old_names ~= new_names then
    old = set_of(old_names)
    local new = set_of(new_names)
    for _, name in ipairs(old_names) do
      if not new[name] then
        local key = index .. name
        unit.leaves[#unit.leaves + 1] = key
        plan.probe(key)
        dirty[name] = dirty[name] or 0
        plan.removals = true
      end
    end
  end
  local touched = moved and facts.touched > work.newest_before and facts.touched or 0
  for _, name in ipairs(new_names) do
    if moved or not old[name] then
      local key = index .. name
      unit.enters[#unit.enters + 1] = key
      if plan.probe(key) == 0 then plan.created[kind][name] = true end
      if touched >= (dirty[name] or 0) then dirty[name] = touched end
    end
  end
end

-- Notes what a unit's terms become in the posting lists.
function plan.terms(unit, old_terms, new_terms)
  local ops, read, before = plan.terms_change, plan.terms_read, {}
  local was, is = unit.before and unit.before.seq, unit.facts and unit.facts.seq
  local function note(term, document, weight, had)
    local n = #read
    read[n + 1] = term
    ops[3 * n + 1], ops[3 * n + 2], ops[3 * n + 3] = document, weight, had
  end
  if old_terms then
    postings.each_term(old_terms, function(term, weight) before[term] = weight end)
  end
  if new_terms then
    postings.each_term(new_terms, function(term, weight)
      local had = was == is and before[term]
      if had ~= weight then note(term, is, weight, had and true or false) end
      if had then before[term] = nil end
    end)
  end
  if was then   -- without facts nobody knows the document: check() finds what stays of it
    for term in pairs(before) do note(term, was, 0, true) end
  end
  unit.retermed = true
end

-- Changes the posting lists of all units, in memory.
function plan.postings()
  local terms, ops, words = plan.terms_read, plan.terms_change, plan.words
  if not terms[1] then return end
  postings.read(words, terms)
  for i = 1, #terms do postings.change(words, terms[i], ops[3 * i - 2], ops[3 * i - 1], ops[3 * i]) end
  postings.prepare(words)
end

-- Units that differ, with their facts as they were and will be; and the clues to forget.
function plan.differing()
  local changed, forgotten, twins, alike = {}, {}, {}, {}
  for _, unit in ipairs(work.order) do
    local a, b = unit.old, unit.new
    if unit.why == 'forget' then forgotten[#forgotten + 1] = unit.clue end
    if a ~= b and not (a and b and a.record == b.record and a.filing == b.filing and a.facts == b.facts
        and a.pin == b.pin and a.expires == b.expires and a.terms == b.terms) then
      changed[#changed + 1] = unit
      if a and a.facts then unit.before = work.facts_of(a) end
      if b then
        unit.facts = work.facts_of(b)
        plan.clues[whole(unit.facts.seq)] = unit.clue
      end
      local before, facts = unit.before, unit.facts
      unit.entered = facts and not (before and before.seq == facts.seq)
      unit.said = facts and (unit.said or unit.entered or before.digest ~= facts.digest)
      unit.yields = before and (unit.entered or not facts or facts.digest ~= before.digest)   -- its place among twins
      if unit.yields then twins[#twins + 1] = twin_field(before.digest) end
      if unit.said then twins[#twins + 1] = twin_field(facts.digest) end
      if unit.entered or not facts then
        unit.alike = alike_field('clue', unit.clue)
        alike[#alike + 1] = unit.alike
      end
    end
  end
  plan.read_hints('twins', twins)
  plan.read_hints('alike', alike)
  return changed, forgotten
end

-- Reads whatever the other writes of one unit depend on.
function plan.unit(unit)
  local old, new, before, facts = unit.old or NOTHING, unit.new, unit.before, unit.facts
  local old_categories, old_labels, categories, labels = NOTHING, NOTHING, NOTHING, NOTHING
  if old.filing then old_categories, old_labels = work.names_in(old.filing) end
  if new then categories, labels = work.names_in(new.filing) end
  unit.moved = new and not (before and before.touched == facts.touched)
  unit.weakens = old ~= NOTHING and (not unit.live or work.is_strong(old.pin, before))   -- may stand in `strength`
  unit.leaves, unit.enters = {}, {}
  plan.names(unit, 'category', old_categories, categories)
  plan.names(unit, 'label', old_labels, labels)
  if old_labels ~= labels then
    plan.count_links(old_labels, labels, -1)
    plan.count_links(labels, old_labels, 1)
  end
  if new then
    if unit.said then unit.twin = twin_of(unit) end
    if unit.entered then plan.created.clue[unit.clue] = true end
    if not unit.live then plan.probe(prefix .. 'withdrawn') end
    if unit.entered then plan.probe(prefix .. 'created') end
    unit.changed = not unit.live or old.record ~= new.record or old.filing ~= new.filing or old.pin ~= new.pin
  else
    plan.removals = true
    plan.probe(prefix .. 'created')
  end
  local new_terms = new and new.terms or false
  if (old.terms or false) ~= new_terms or before and facts and before.seq ~= facts.seq then
    plan.terms(unit, old.terms, new_terms)
  end
end

-- Existing names that differ from a new one only by case, blanks, `-`, `_` or `.` are hinted at: kind -> name -> that.
function plan.find_similar()
  for kind, names in pairs(plan.created) do
    local key, sorted, fields = kind == 'clue' and 'alike' or 'alike-names', {}, {}
    for name in pairs(names) do sorted[#sorted + 1] = name end
    if sorted[2] then table.sort(sorted) end   -- the same one gets the hint wherever the script runs
    for i, name in ipairs(sorted) do fields[i] = kind == 'clue' and work.units[name].alike or alike_field(kind, name) end
    plan.read_hints(key, fields)
    for i, name in ipairs(sorted) do
      local other = plan.hint(key, fields[i], kind == 'clue' and whole(work.units[name].facts.seq) or name, name)
      plan.similar[kind][name] = other and loosen(other) == loosen(name) and other
    end
  end
end

-- Plans all units and refiled records, and probes what is not named after a category or label. Returns the units that
-- change, and the clues to forget.
function plan.all()
  local changed, forgotten = plan.differing()
  if not (changed[1] or forgotten[1] or also[1] or work.refiling) then return changed, forgotten end
  for _, unit in ipairs(changed) do   -- first what is given up, so that any record may take it
    local before = unit.before
    if unit.yields then plan.unhint('twins', twin_field(before.digest), whole(before.seq)) end
    if before and unit.alike then plan.unhint('alike', unit.alike, whole(before.seq)) end
  end
  for _, unit in ipairs(changed) do plan.unit(unit) end
  if work.refiling then work.refiling.plan() end
  plan.postings()
  plan.find_similar()
  for _, name in ipairs({'clues', 'changed', 'strength', 'categories', 'labels'}) do plan.probe(prefix .. name) end
  for label in pairs(plan.links) do plan.probe(prefix .. 'links:' .. label) end
  for _, extra in ipairs(also) do extra.probe() end
  if forgotten[1] then
    plan.removals = true
    call('ZCARD', tag_prefix .. 'forgotten')
    call('ZCARD', prefix .. 'snapshots')
  end
  if plan.removals then
    plan.probe(prefix .. 'withdrawn')
    call('HLEN', prefix .. 'alike-names')
  end
  if any_spelling == nil then any_spelling = call('HLEN', prefix .. 'spelling') > 0 end
  return changed, forgotten
end
