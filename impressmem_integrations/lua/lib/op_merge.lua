-- The operations `merge-names` and `merge-clues`, and `existing`, which refuses names that do not exist.
-- Needs lib/commit.
-- Can fail: WRONGTYPE, before the first write.
local function existing(kind, name)
  local real = name_of(kind, name)
  if kind == 'clue' then
    local unit = load(real)
    if not unit.new then fail('not-found', kind, real) end
    return real, unit
  end
  if not call('ZSCORE', prefix .. known_names[kind], real) then fail('not-found', kind, real) end
  return real
end

operations['merge-names'] = function(a)
  local kind, most = a[1], tonumber(a[3])
  local target = existing(kind, a[2])
  local sources, members, seen, left = {}, {}, {}, 0
  for i = 4, #a do
    local source = existing(kind, a[i])
    if source ~= target and not seen[source] then
      seen[source] = true
      sources[#sources + 1] = source
    end
  end
  if #sources == 0 then fail('same', target) end
  local taken = {}
  for _, source in ipairs(sources) do
    local room = most - #members
    left = left + math.max(0, call('ZCARD', prefix .. index_of[kind] .. source) - room)  -- one may be under several
    if room > 0 then
      for _, clue in ipairs(call('ZRANGE', prefix .. index_of[kind] .. source, 0, room - 1)) do
        if not taken[clue] then
          taken[clue] = true
          members[#members + 1] = clue
        end
      end
    end
  end
  load_all(members)
  local moved, stray, labels_moved, label_seen = {}, {}, 0, {}
  for _, clue in ipairs(members) do
    local unit = units[clue]
    if unit.new then
      local categories, labels = read_filing(unit.new.filing)
      for _, label in ipairs(labels) do
        if not label_seen[label] then
          label_seen[label] = true
          labels_moved = labels_moved + 1
        end
      end
      local names = kind == 'category' and categories or labels
      local kept, have = {}, {}
      for _, name in ipairs(names) do
        if seen[name] then name = target end
        if not have[name] then
          have[name] = true
          kept[#kept + 1] = name
        end
      end
      if kind == 'category' then categories = kept else labels = kept end
      unit.new.filing = write_filing(categories, labels)
      local facts = bump_revision(unit)
      moved[#moved + 1] = {facts.seq, clue}
    elseif not unit.old then
      stray[#stray + 1] = clue
    end
  end
  if #stray > 0 then
    -- index members without a record: nothing to move, only to clean
    also[#also + 1] = {
      probe = function() for _, source in ipairs(sources) do dirty[kind][source] = 0 end end,
      write = function()
        for _, source in ipairs(sources) do
          for _, clue in ipairs(stray) do call('ZREM', prefix .. index_of[kind] .. source, clue) end
        end
      end,
    }
  end
  table.sort(moved, function(x, y) return x[1] < y[1] end)
  for i, pair in ipairs(moved) do moved[i] = pair[2] end
  return function()
    return {'merge-names', target, sources, moved, whole(labels_moved), whole(left)}
  end
end

operations['merge-clues'] = function(a)
  local target, unit = existing('clue', a[1])
  local sources, seen = {}, {}
  local most_labels = tonumber(a[6])
  for i = 7, #a do
    local source = existing('clue', a[i])
    if source ~= target and not seen[source] then
      seen[source] = true
      sources[#sources + 1] = source
    end
  end
  if #sources == 0 then fail('same', target) end
  local categories, labels = read_filing(unit.new.filing)
  local has_category, has_label = set_of(categories), set_of(labels)
  local facts = read_facts(unit.new.facts)
  for _, source in ipairs(sources) do
    local other = units[source]
    local other_categories, other_labels = read_filing(other.new.filing)
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
    if other.new.pin and not unit.new.pin then unit.new.pin = other.new.pin end
    facts.uses = math.max(facts.uses, read_facts(other.new.facts).uses)
    facts.used = math.max(facts.used, read_facts(other.new.facts).used)
    drop(other, 'merge')
  end
  facts.revision, facts.updated, facts.touched = facts.revision + 1, now, next_touch()
  facts.digest, facts.origin = a[3], a[4]
  unit.new.filing = write_filing(categories, labels)
  unit.new.record, unit.new.facts = a[2], write_facts(facts)
  unit.new.terms = a[5] ~= '' and a[5] or false
  unit.new.expires = expiry_for(unit.new.pin, '')
  return function() return {'merge-clues', target, sources} end
end
