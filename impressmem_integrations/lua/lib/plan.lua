-- Finds the difference between old and new images, reads what its writes depend on, and probes every key about to be
-- written for its type (which also touches it, so a Cluster slot on the move fails before the first write).
-- Needs lib/images.
-- Can fail: WRONGTYPE, MOVED, ASK. Reads only.
local plan = {
  members = {},                         -- key -> how many members it had before; also says that it was probed
  dirty = {category = {}, label = {}},  -- name -> newest touch written now, or 0: look it up afterwards
  created = {clue = {}, category = {}, label = {}},   -- name -> true
  links = {},                           -- label -> label -> change of the count
  removals = false,                     -- whether a record or a filing leaves
  owners = {},                          -- field of `hints` -> name or false, as it will be
  hints = {},                           -- field of `hints` -> name to write, or false to remove
  waiting = {},                         -- field of `hints` -> new name that takes it if its owner goes
  similar = {},                         -- kind -> new name -> existing name that looks alike, or false
  gone = {category = {}, label = {}},   -- name -> true: lost its last member
}
local NOTHING = {}

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

-- Hints are one name per key and only ever point at something that lives: other spellings and equal contents.
function plan.owner(field)
  local owner = plan.owners[field]
  if owner == nil then
    owner = call('HGET', prefix .. 'hints', field)
    plan.owners[field] = owner
  end
  return owner
end

-- Takes the field for the name if nobody has it. Returns another name that has it, or false.
function plan.hint(field, name)
  local owner = plan.owner(field)
  if owner == name then return false end
  if owner then
    plan.waiting[field] = name
    return owner
  end
  plan.owners[field], plan.hints[field] = name, name
  return false
end

function plan.unhint(field, name)
  if plan.owner(field) == name then plan.owners[field], plan.hints[field] = false, false end
end

function plan.count_links(labels, change)
  local links = plan.links
  for _, a in ipairs(labels) do
    for _, b in ipairs(labels) do
      if a ~= b then
        local others = links[a]
        if not others then
          others = {}
          links[a] = others
        end
        others[b] = (others[b] or 0) + change
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

-- Terms to add or to weigh anew (flat: key, weight, ...) and terms to remove (keys).
-- A list of terms is "<version>[UNIT<term>UNIT<weight>...]".
function plan.terms(unit, old_terms, new_terms)
  local index, before = prefix .. 'term:', {}
  local adds, removes = {}, {}
  if old_terms then
    for term, weight in string.gmatch(old_terms, '\31([^\31]+)\31([^\31]+)') do before[term] = weight end
  end
  if new_terms then
    for term, weight in string.gmatch(new_terms, '\31([^\31]+)\31([^\31]+)') do
      if before[term] ~= weight then
        local key, n = index .. term, #adds
        plan.probe(key)
        adds[n + 1], adds[n + 2] = key, weight
      end
      before[term] = nil
    end
  end
  for term in pairs(before) do
    local key = index .. term
    plan.probe(key)
    removes[#removes + 1] = key
  end
  unit.adds, unit.removes = adds, removes
end

local function is_same(a, b)
  return a == b or (a and b and a.record == b.record and a.filing == b.filing and a.facts == b.facts
    and a.pin == b.pin and a.expires == b.expires and a.terms == b.terms)
end

-- Facts as they were and will be, and the hints that the record gives up: before any other record takes them.
function plan.leave(unit)
  local old, new = unit.old, unit.new
  unit.before = old and old.facts and work.facts_of(old)
  unit.facts = new and work.facts_of(new)
  local digest = unit.before and unit.before.digest
  if digest and not (new and unit.facts.digest == digest) then plan.unhint('content' .. UNIT .. digest, unit.clue) end
  if not new then plan.unhint('clue' .. UNIT .. loosen(unit.clue), unit.clue) end
end

-- Reads whatever the other writes of one unit depend on.
function plan.unit(unit)
  local old, new, before, facts = unit.old or NOTHING, unit.new, unit.before, unit.facts
  local old_categories, old_labels, categories, labels = NOTHING, NOTHING, NOTHING, NOTHING
  if old.filing then old_categories, old_labels = work.names_in(old.filing) end
  if new then categories, labels = work.names_in(new.filing) end
  unit.moved = new and not (before and before.touched == facts.touched)
  unit.leaves, unit.enters = {}, {}
  plan.names(unit, 'category', old_categories, categories)
  plan.names(unit, 'label', old_labels, labels)
  if old_labels ~= labels then
    plan.count_links(old_labels, -1)
    plan.count_links(labels, 1)
  end
  if new then
    unit.twin = plan.hint('content' .. UNIT .. facts.digest, unit.clue)
    if not unit.old then plan.created.clue[unit.clue] = true end
    unit.changed = not unit.live or old.record ~= new.record or old.filing ~= new.filing or old.pin ~= new.pin
  else
    plan.removals = true
  end
  local new_terms = new and new.terms or false
  if (old.terms or false) ~= new_terms then plan.terms(unit, old.terms, new_terms) end
end

-- Existing names that differ from a new one only by case, blanks, `-`, `_` or `.` are hinted at: kind -> name -> that.
function plan.find_similar()
  for kind, names in pairs(plan.created) do
    local found, sorted = {}, {}
    for name in pairs(names) do sorted[#sorted + 1] = name end
    if sorted[2] then table.sort(sorted) end   -- the same one gets the hint wherever the script runs
    for _, name in ipairs(sorted) do found[name] = plan.hint(kind .. UNIT .. loosen(name), name) end
    plan.similar[kind] = found
  end
end

-- Plans all units. Returns those that change, and the clues to forget.
function plan.all()
  local changed, forgotten = {}, {}
  for _, unit in ipairs(work.order) do
    if unit.why == 'forget' then forgotten[#forgotten + 1] = unit.clue end
    if not is_same(unit.old, unit.new) then
      changed[#changed + 1] = unit
      plan.leave(unit)
    end
  end
  for _, unit in ipairs(changed) do plan.unit(unit) end
  plan.find_similar()
  return changed, forgotten
end

-- Probes what is not named after a category, label or term.
function plan.probe_rest(forgotten)
  for _, name in ipairs({'clues', 'created', 'changed', 'strength', 'withdrawn', 'categories', 'labels'}) do
    plan.probe(prefix .. name)
  end
  for label in pairs(plan.links) do plan.probe(prefix .. 'links:' .. label) end
  for _, extra in ipairs(also) do extra.probe() end
  if #forgotten > 0 then
    call('ZCARD', tag_prefix .. 'forgotten')
    call('ZCARD', prefix .. 'snapshots')
  end
  if not next(plan.owners) then call('HLEN', prefix .. 'hints') end   -- otherwise it was read
  if any_spelling == nil then any_spelling = call('HLEN', prefix .. 'spelling') > 0 end
end
