-- Records of which only the filing and the revision change. A merge of names changes hundreds, so they go without units
-- (lib/images): what becomes of a filing is found once, and what goes into one key goes there with one call.
-- Needs lib/images, lib/edits and lib/plan.
-- Can fail: WRONGTYPE, MOVED, ASK: before the first write.
--
-- A merge: kind, target, sources (a set), groups (filing -> group), carried (labels of its records, a set), labels (how
--   many), strays (members of a source's index that have no record: nothing to move, only to clean).
-- A group: is (the filing that it becomes), lost (sources that it names), gains (whether the target is new to it),
--   others (the labels that stay), count (of records, where it is a merge of labels).
-- A change: clue (false once it became a unit), merge, group, was (filing), before and facts (as stored), touched, pin,
--   expires.
local refiling = {order = {}, changes = {}, merges = {}}

function refiling.merge(kind, target, sources)
  work.refiling = refiling
  local merge = {kind = kind, target = target, sources = sources, groups = {}, carried = {}, labels = 0,
                 strays = {}}
  refiling.merges[#refiling.merges + 1] = merge
  return merge
end

-- What a merge makes of a filing.
function refiling.group(merge, filing)
  local group = merge.groups[filing]
  if group then return group end
  local first, rest = string.match(filing, '^([^\31]*)(.*)$')
  local of_labels, target, sources = merge.kind == 'label', merge.target, merge.sources
  local lost, others, kept, had, placed = {}, {}, {}, false, false
  for name in string.gmatch(of_labels and rest or first, '[^\29\31]+') do
    local stays = not sources[name]
    if stays and name ~= target then
      others[#others + 1], kept[#kept + 1] = name, name
    else
      if stays then had = true else lost[#lost + 1] = name end
      if not placed then kept[#kept + 1], placed = target, true end
    end
  end
  for label in string.gmatch(rest, '[^\31]+') do
    if not merge.carried[label] then merge.carried[label], merge.labels = true, merge.labels + 1 end
  end
  local is = of_labels and first .. UNIT .. table.concat(kept, UNIT) or table.concat(kept, GROUP) .. rest
  group = {is = is, lost = lost, gains = not had, others = others, count = 0}
  merge.groups[filing] = group
  return group
end

-- Loads records that nothing of this transaction has loaded; one that is not whole becomes a unit.
function refiling.load(merge, clues)
  local missing = {}
  for _, clue in ipairs(clues) do
    if work.refiled[clue] then
      work.load(clue)   -- refiled by a merge before this one
    elseif not work.units[clue] then
      missing[#missing + 1] = clue
    end
  end
  if not missing[1] then return end
  local filings = in_chunks('HMGET', prefix .. 'filing', missing)
  local facts = in_chunks('HMGET', prefix .. 'facts', missing)
  local pins = in_chunks('ZMSCORE', prefix .. 'pins', missing)
  local expiries = work.expiring and in_chunks('ZMSCORE', prefix .. 'expiry', missing) or NOTHING
  for i, clue in ipairs(missing) do
    if filings[i] and facts[i] then
      local change = {clue = clue, merge = merge, group = refiling.group(merge, filings[i]), was = filings[i],
                      before = facts[i], facts = false, touched = false, pin = pins[i], expires = expiries[i],
                      seq = false}
      change.facts, change.touched, change.seq = next_revision(facts[i])
      work.refiled[clue] = change
      refiling.order[#refiling.order + 1] = change
    else
      work.load(clue)
    end
  end
end

-- Another operation wants the record as a unit.
function refiling.take_over(unit)
  local change = work.refiled[unit.clue]
  work.refiled[unit.clue], change.clue = nil, false
  if unit.live then
    local image = own_image(unit)
    image.filing, image.facts, image.counted = change.group.is, change.facts, nil
  end
end

-- What a merge of labels does to the label graph.
local function count_links_of(merge, group)
  local target, count, others = merge.target, group.count, group.others
  for i, source in ipairs(group.lost) do
    for _, other in ipairs(others) do plan.count_link(source, other, -count) end
    if not group.gains then plan.count_link(source, target, -count) end
    for j = i + 1, #group.lost do plan.count_link(source, group.lost[j], -count) end
  end
  if group.gains then
    for _, other in ipairs(others) do plan.count_link(target, other, count) end
  end
end

-- What changes in the indexes.
function refiling.plan()
  for _, change in ipairs(refiling.order) do
    if change.clue then
      refiling.changes[#refiling.changes + 1] = change
      change.group.count = change.group.count + 1
    end
  end
  for _, merge in ipairs(refiling.merges) do
    local dirty, target, index = plan.dirty[merge.kind], merge.target, prefix .. merge.kind .. ':'
    for source in pairs(merge.sources) do
      plan.probe(index .. source)
      dirty[source] = dirty[source] or 0
    end
    plan.probe(index .. target)
    dirty[target], plan.removals = dirty[target] or 0, true
    if merge.kind == 'label' then
      for _, group in pairs(merge.groups) do
        if group.count > 0 then count_links_of(merge, group) end
      end
    end
  end
end

function refiling.write()
  local filings, facts, leaves, enters, noted = {}, {}, {}, {}, plan.noted.changed
  for _, change in ipairs(refiling.changes) do
    local clue, group, index = change.clue, change.group, prefix .. change.merge.kind .. ':'
    filings[#filings + 1], filings[#filings + 2] = clue, group.is
    facts[#facts + 1], facts[#facts + 2] = clue, change.facts
    noted[#noted + 1], noted[#noted + 2] = work.next_seq(), clue
    for _, source in ipairs(group.lost) do
      local list = leaves[index .. source] or {}
      leaves[index .. source], list[#list + 1] = list, clue
    end
    if group.gains then
      local key = index .. change.merge.target
      local list = enters[key] or {}
      enters[key], list[#list + 1], list[#list + 2] = list, change.touched, clue
    end
  end
  for _, merge in ipairs(refiling.merges) do
    for source in pairs(merge.strays[1] and merge.sources or NOTHING) do
      in_chunks('ZREM', prefix .. merge.kind .. ':' .. source, merge.strays)
    end
  end
  if filings[1] then
    in_chunks('HSET', prefix .. 'filing', filings)
    in_chunks('HSET', prefix .. 'facts', facts)
  end
  for key, clues in pairs(leaves) do in_chunks('ZREM', key, clues) end
  for key, members in pairs(enters) do in_chunks('ZADD', key, members) end
end
