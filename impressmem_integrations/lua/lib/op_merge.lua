-- The operations `merge-names` and `merge-clues`, and `existing`, which refuses names that do not exist.
-- Needs lib/images, lib/refiling and lib/plan.
-- Can fail: WRONGTYPE, before the first write.

-- Calls visit(clue, filing) for each record that operations before this one have filed.
local function each_filed(visit)
  for _, unit in ipairs(work.order) do
    if unit.new then visit(unit.clue, unit.new.filing) end
  end
  for _, change in ipairs(refiling.order) do
    if change.clue then visit(change.clue, change.group.is) end
  end
end

-- Whether a filing names one of a set of categories or labels.
local function names_one(kind, filing, names)
  local categories, labels = work.names_in(filing)
  for _, name in ipairs(kind == 'category' and categories or labels) do
    if names[name] then return true end
  end
  return false
end

local function is_filed_now(kind, name)
  local found, names = false, {[name] = true}
  each_filed(function(_, filing) found = found or names_one(kind, filing, names) end)
  return found
end

local function existing(kind, name)
  local real = work.name_of(kind, name)
  if kind == 'clue' then
    local unit = work.load(real)
    if not unit.new then fail('not-found', kind, real) end
    return real, unit
  end
  if not call('ZSCORE', prefix .. known_names[kind], real) and not is_filed_now(kind, real) then
    fail('not-found', kind, real)
  end
  return real
end

-- The names from a[first] on that are not the target, each once; also as a set. Refuses when none is left.
local function existing_sources(kind, a, first, target)
  local sources, seen = {}, {}
  for i = first, #a do
    local source = existing(kind, a[i])
    if source ~= target and not seen[source] then
      seen[source] = true
      sources[#sources + 1] = source
    end
  end
  if #sources == 0 then fail('same', target) end
  return sources, seen
end

operations['merge-names'] = function(a)
  local kind, most = a[1], tonumber(a[3])
  local target = existing(kind, a[2])
  local index = prefix .. kind .. ':'
  local sources, seen = existing_sources(kind, a, 4, target)
  local members, left = {}, 0
  local taken = {}
  for _, source in ipairs(sources) do
    local key = index .. source
    left = left + math.max(0, call('ZCARD', key) - most)
    for _, clue in ipairs(call('ZRANGE', key, 0, most - 1)) do
      if not taken[clue] and #members < most then
        taken[clue] = true
        members[#members + 1] = clue
      elseif not taken[clue] then
        left = left + 1
      end
    end
  end
  each_filed(function(clue, filing)   -- the index does not know of it yet
    if not taken[clue] and names_one(kind, filing, seen) then
      taken[clue] = true
      members[#members + 1] = clue
    end
  end)
  local merge = refiling.merge(kind, target, seen)
  refiling.load(merge, members)
  local moved, clue_of = {}, {}
  for _, clue in ipairs(members) do
    local unit, change, seq = work.units[clue], work.refiled[clue], nil
    if change then
      seq = change.seq
    elseif unit.new then
      local group, image = refiling.group(merge, unit.new.filing), nil
      if group.lost[1] then   -- else it was filed elsewhere before
        image, seq = work.revise(unit)
        image.filing = group.is
      end
    elseif not unit.old then
      merge.strays[#merge.strays + 1] = clue
    end
    if seq then
      moved[#moved + 1], clue_of[seq] = seq, clue
    end
  end
  table.sort(moved)
  for i, seq in ipairs(moved) do moved[i] = clue_of[seq] end
  return {'merge-names', target, sources, table.concat(moved, UNIT), whole(merge.labels), whole(left)}
end

operations['merge-clues'] = function(a)
  local target, unit = existing('clue', a[1])
  local most_labels = tonumber(a[6])
  local sources = existing_sources('clue', a, 7, target)
  local categories, labels = read_filing(unit.new.filing)
  local has_category, has_label = set_of(categories), set_of(labels)
  local image, facts = work.edit(unit)
  for _, source in ipairs(sources) do
    local other = work.units[source]
    local other_categories, other_labels = work.names_in(other.new.filing)
    for _, name in ipairs(other_categories) do
      if not has_category[name] then
        has_category[name] = true
        categories[#categories + 1] = name
      end
    end
    for _, name in ipairs(other_labels) do
      if not has_label[name] and #labels < most_labels then
        has_label[name] = true
        labels[#labels + 1] = name
      end
    end
    if other.new.pin and not image.pin then image.pin = other.new.pin end
    facts.uses = math.max(facts.uses, work.facts_of(other.new).uses)
    facts.used = math.max(facts.used, work.facts_of(other.new).used)
    facts.origin = work.origins(work.facts_of(other.new).origin, facts.origin)
    other.new, other.why = false, 'merge'
  end
  facts.revision, facts.updated, facts.touched = facts.revision + 1, now, work.next_touch()
  facts.digest, facts.origin = a[3], work.origins(facts.origin, a[4])
  work.set_facts(image, facts)
  image.record, image.filing = a[2], write_filing(categories, labels)
  image.terms = a[5] ~= '' and a[5] or false
  image.expires = work.expiry_for(image.pin, '')
  return {'merge-clues', target, sources}
end
