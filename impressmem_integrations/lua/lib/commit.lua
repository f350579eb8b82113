-- Writes the difference between old and new images: records, every index, one journal entry.
-- Needs lib/plan, lib/names, lib/journal and lib/removals.
-- Can fail: OOM, at the first write; what lib/plan fails with, before it.
local write = {}

-- One record with its indexes. `leaving` is lib/removals where something leaves.
function write.unit(unit, leaving)
  local clue, old, new, facts = unit.clue, unit.old or NOTHING, unit.new, unit.facts
  for _, key in ipairs(unit.leaves) do call('ZREM', key, clue) end
  if new then
    if old.record ~= new.record then call('HSET', prefix .. 'impressions', clue, new.record) end
    if old.filing ~= new.filing then call('HSET', prefix .. 'filing', clue, new.filing) end
    if old.facts ~= new.facts then call('HSET', prefix .. 'facts', clue, new.facts) end
    for _, key in ipairs(unit.enters) do call('ZADD', key, facts.touched, clue) end
    if unit.moved then call('ZADD', prefix .. 'clues', facts.touched, clue) end
    if unit.entered then call('ZADD', prefix .. 'created', facts.seq, clue) end
    if new.pin then
      if old.pin ~= new.pin then call('ZADD', prefix .. 'pins', new.pin, clue) end
    elseif old.pin then
      call('ZREM', prefix .. 'pins', clue)
    end
    if work.is_strong(new.pin, facts) then
      call('ZADD', prefix .. 'strength', string.format('%.17g', work.strength(facts)), clue)
    else
      if unit.weakens then call('ZREM', prefix .. 'strength', clue) end
      if not new.pin and facts.touched < work.weak_from then work.weak_from = facts.touched end
    end
    if new.expires and old.expires ~= new.expires then call('ZADD', prefix .. 'expiry', new.expires, clue) end
    if unit.changed then
      local noted = plan.noted.changed
      noted[#noted + 1], noted[#noted + 2] = work.next_seq(), clue
    end
    if not unit.live and plan.members[prefix .. 'withdrawn'] > 0 then call('ZREM', prefix .. 'withdrawn', clue) end
  else
    leaving.unit(unit)
  end
  if old.expires and not (new and new.expires) then call('ZREM', prefix .. 'expiry', clue) end
  if unit.retermed then
    if new and new.terms then
      call('HSET', prefix .. 'terms', clue, new.terms)
    else
      call('HDEL', prefix .. 'terms', clue)
    end
  end
end

-- After write.names, which finds the labels that are gone: nothing is linked with them any more.
function write.links()
  local gone = plan.gone.label
  for label, others in pairs(plan.links) do
    local key, shrinks = prefix .. 'links:' .. label, false
    if gone[label] then
      call('UNLINK', key)
    else
      for other, change in pairs(others) do
        if gone[other] then
          call('ZREM', key, other)
        elseif change ~= 0 then
          call('ZINCRBY', key, change, other)
          shrinks = shrinks or change < 0
        end
      end
      if shrinks then call('ZREMRANGEBYSCORE', key, '-inf', '0') end
    end
  end
end

-- Category and label names stand at the newest touch of their members, and vanish with the last one.
function write.names(kind, leaving)
  local known, scores = prefix .. known_names[kind], {}
  for name, newest in pairs(plan.dirty[kind]) do
    local score = newest > 0 and newest or call('ZREVRANGE', prefix .. kind .. ':' .. name, 0, 0, 'WITHSCORES')[2]
    if score then
      scores[#scores + 1], scores[#scores + 2] = score, name
    else
      leaving.name(kind, name)
    end
  end
  if scores[1] then in_chunks('ZADD', known, scores) end
end

-- `changed` and `withdrawn` keep the newest, as many as stand in a compact set and not one more on the way. The floor
-- is the newest change that they do not tell of: a context as old as that is made anew.
function write.noted()
  local KEPT = 128
  for name, noted in pairs(plan.noted) do
    local count, from, key = #noted / 2, 1, prefix .. name
    if count > KEPT then
      from, count = #noted - 2 * KEPT + 1, KEPT
      work.floor = math.max(work.floor, noted[from - 2])
    end
    local excess = count > 0 and plan.members[key] + count > KEPT and call('ZCARD', key) + count - KEPT or 0
    if excess > 0 then
      local gone = call('ZPOPMIN', key, excess)
      work.floor = math.max(work.floor, tonumber(gone[#gone]))
    end
    if count > 0 then call('ZADD', key, unpack(noted, from)) end
  end
end

-- Hints, and spellings of new names.
function write.hints()
  for key, fields in pairs(plan.hints) do
    local gone, set = {}, {}
    for field, value in pairs(fields) do
      value = value or plan.waiting[key][field]
      if value then
        set[#set + 1], set[#set + 2] = field, value
      else
        gone[#gone + 1] = field
      end
    end
    if gone[1] then in_chunks('HDEL', prefix .. key, gone) end
    if set[1] then in_chunks('HSET', prefix .. key, set) end
  end
  for kind, names in pairs(work.spelled) do
    for folded, name in pairs(names) do
      if name ~= folded and plan.created[kind][name] then
        call('HSET', prefix .. 'spelling', kind .. UNIT .. folded, name, kind .. RECORD .. name, folded)
      end
    end
  end
end

-- Carries out everything at once. Returns how many journal entries a forgetting removed, and whether a record changed.
local function commit(operation)
  local changed, forgotten = plan.all()
  local refiled = work.refiling and work.refiling.changes or NOTHING
  local writes = #changed + #refiled
  if writes == 0 and #forgotten == 0 and #also == 0 and not work.refiling then return 0, false end
  names.probe()
  local length = call('XLEN', journal.key)
  local leaving = plan.removals and removals()

  -- A full server refuses a script whose first write needs memory: what only removes begins with removing.
  local grows = #refiled > 0
  for _, unit in ipairs(changed) do grows = grows or unit.new end
  if grows then journal.write(changed, refiled, operation) end
  for _, unit in ipairs(changed) do write.unit(unit, leaving) end
  if work.refiling then work.refiling.write() end
  if writes > 0 then
    if not grows then journal.write(changed, refiled, operation) end
    length = length + 1
  end
  for _, extra in ipairs(also) do extra.write() end
  postings.write(plan.words)
  write.names('category', leaving)
  write.names('label', leaving)
  write.links()
  names.enter()
  write.hints()
  write.noted()
  local scrubbed = leaving and leaving.finish(changed, forgotten) or 0
  journal.trim(length - scrubbed)
  call('HSET', meta_key, 'seq', work.seq, 'clock', work.clock, 'journal_bytes', journal.bytes,
    'max_impressions', settings.max_impressions, 'delta_floor', work.floor, 'weak_from', work.weak_from)
  if not meta[6] then
    call('HSET', meta_key, 'layout', settings.layout, 'generation', generation, 'half_life', work.half_life,
      'salt', work.salt)
  end
  return scrubbed, writes > 0
end
