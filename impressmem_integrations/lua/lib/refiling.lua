-- Records of which only the filing and the revision change. A merge of names changes hundreds, so they go without units
-- (lib/images), are planned by equal filings, and what goes into one key goes there with one call.
-- Needs lib/images, lib/edits and lib/plan.
-- Can fail: WRONGTYPE, MOVED, ASK: before the first write.
--
-- A change: clue (false once it became a unit), was and is (filings), before and facts (as stored), touched, pin, expires.
local refiling = {order = {}, changes = {}}

-- Loads records that nothing of this transaction has loaded; one that is not whole becomes a unit.
function refiling.load(clues)
  work.refiling = refiling
  local missing = {}
  for _, clue in ipairs(clues) do
    if not work.is_loaded(clue) then missing[#missing + 1] = clue end
  end
  if not missing[1] then return end
  local filings = in_chunks('HMGET', prefix .. 'filing', missing)
  local facts = in_chunks('HMGET', prefix .. 'facts', missing)
  local pins = in_chunks('ZMSCORE', prefix .. 'pins', missing)
  local expiries = work.expiring and in_chunks('ZMSCORE', prefix .. 'expiry', missing) or NOTHING
  for i, clue in ipairs(missing) do
    if filings[i] and facts[i] then
      local change = {clue = clue, was = filings[i], is = filings[i], before = facts[i], facts = facts[i],
                      touched = false, pin = pins[i], expires = expiries[i], group = false}
      work.refiled[clue] = change
      refiling.order[#refiling.order + 1] = change
    else
      work.load(clue)
    end
  end
end

-- Gives a record another filing. Returns its seq.
function refiling.refile(change, filing)
  local seq
  change.is = filing
  change.facts, change.touched, seq = next_revision(change.facts)
  return seq
end

-- Another operation wants the record as a unit.
function refiling.take_over(unit)
  local change = work.refiled[unit.clue]
  work.refiled[unit.clue], change.clue = nil, false
  if unit.live then
    local image = own_image(unit)
    image.filing, image.facts, image.counted = change.is, change.facts, nil
  end
end

-- What changes in the indexes. Records of the same filings are planned together.
function refiling.plan()
  local groups, planned = {}, {}
  for _, change in ipairs(refiling.order) do
    if change.clue then
      refiling.changes[#refiling.changes + 1] = change
      local targets = groups[change.was] or {}
      groups[change.was] = targets
      local group = targets[change.is]
      if not group then
        group = {was = change.was, is = change.is, count = 0, moved = false, leaves = {}, enters = {}}
        targets[change.is] = group
        planned[#planned + 1] = group
      end
      group.count, change.group = group.count + 1, group
    end
  end
  for _, group in ipairs(planned) do
    local old_categories, old_labels = work.names_in(group.was)
    local categories, labels = work.names_in(group.is)
    plan.names(group, 'category', old_categories, categories)
    plan.names(group, 'label', old_labels, labels)
    if old_labels ~= labels then
      plan.count_links(old_labels, labels, -group.count)
      plan.count_links(labels, old_labels, group.count)
    end
  end
end

function refiling.write()
  local filings, facts, leaves, enters, noted = {}, {}, {}, {}, plan.noted.changed
  for _, change in ipairs(refiling.changes) do
    local clue = change.clue
    filings[#filings + 1], filings[#filings + 2] = clue, change.is
    facts[#facts + 1], facts[#facts + 2] = clue, change.facts
    noted[#noted + 1], noted[#noted + 2] = work.next_seq(), clue
    for _, key in ipairs(change.group.leaves) do
      local list = leaves[key] or {}
      leaves[key], list[#list + 1] = list, clue
    end
    for _, key in ipairs(change.group.enters) do
      local list = enters[key] or {}
      enters[key], list[#list + 1], list[#list + 2] = list, change.touched, clue
    end
  end
  in_chunks('HSET', prefix .. 'filing', filings)
  in_chunks('HSET', prefix .. 'facts', facts)
  for key, clues in pairs(leaves) do in_chunks('ZREM', key, clues) end
  for key, members in pairs(enters) do in_chunks('ZADD', key, members) end
end
