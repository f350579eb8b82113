-- Writes the difference between old and new images: records, every index, one journal entry.
-- Needs lib/plan and lib/journal.
-- Can fail: OOM, at the first write; what lib/plan fails with, before it.
local write = {}

function write.strength(facts)
  local uses = facts.uses == 0 and 0 or math.log(1 + math.log(1 + facts.uses)) / math.log(2)
  return string.format('%.17g', uses + math.max(facts.touched, facts.used) / work.half_life)
end

-- A record that stays or comes.
function write.record(unit, old, new)
  local clue, facts, before = unit.clue, unit.facts, unit.before
  if old.record ~= new.record then call('HSET', prefix .. 'impressions', clue, new.record) end
  if old.filing ~= new.filing then call('HSET', prefix .. 'filing', clue, new.filing) end
  if old.facts ~= new.facts then call('HSET', prefix .. 'facts', clue, new.facts) end
  for _, key in ipairs(unit.enters) do call('ZADD', key, facts.touched, clue) end
  if unit.moved then call('ZADD', prefix .. 'clues', facts.touched, clue) end
  if not (before and before.seq == facts.seq) then call('ZADD', prefix .. 'created', facts.seq, clue) end
  if new.pin then
    if old.pin ~= new.pin then call('ZADD', prefix .. 'pins', new.pin, clue) end
    if not old.pin then call('ZREM', prefix .. 'strength', clue) end
  else
    if old.pin then call('ZREM', prefix .. 'pins', clue) end
    call('ZADD', prefix .. 'strength', write.strength(facts), clue)
  end
  if new.expires and old.expires ~= new.expires then call('ZADD', prefix .. 'expiry', new.expires, clue) end
  if unit.changed then call('ZADD', prefix .. 'changed', work.next_seq(), clue) end
  if not unit.live and plan.members[prefix .. 'withdrawn'] > 0 then call('ZREM', prefix .. 'withdrawn', clue) end
end

function write.removal(unit)
  local clue = unit.clue
  for _, name in ipairs({'impressions', 'filing', 'facts'}) do call('HDEL', prefix .. name, clue) end
  for _, name in ipairs({'clues', 'created', 'changed', 'pins', 'strength'}) do call('ZREM', prefix .. name, clue) end
  if unit.why == 'forget' then
    call('ZREM', prefix .. 'withdrawn', clue)
  else
    call('ZADD', prefix .. 'withdrawn', work.next_seq(), clue)
  end
end

function write.unit(unit)
  local clue, old, new, adds = unit.clue, unit.old or NOTHING, unit.new, unit.adds
  for _, key in ipairs(unit.leaves) do call('ZREM', key, clue) end
  if new then write.record(unit, old, new) else write.removal(unit) end
  if old.expires and not (new and new.expires) then call('ZREM', prefix .. 'expiry', clue) end
  if adds then
    for i = 1, #adds, 2 do call('ZADD', adds[i], adds[i + 1], clue) end
    for _, key in ipairs(unit.removes) do call('ZREM', key, clue) end
    if new and new.terms then
      call('HSET', prefix .. 'terms', clue, new.terms)
    else
      call('HDEL', prefix .. 'terms', clue)
    end
  end
end

function write.links()
  for label, others in pairs(plan.links) do
    local key, shrinks = prefix .. 'links:' .. label, false
    for other, change in pairs(others) do
      if change ~= 0 then call('ZINCRBY', key, change, other) end
      shrinks = shrinks or change < 0
    end
    if shrinks then call('ZREMRANGEBYSCORE', key, '-inf', '0') end
  end
end

function write.unspell(kind, name)
  if not any_spelling then return end
  local folded = call('HGET', prefix .. 'spelling', kind .. RECORD .. name)
  if folded then call('HDEL', prefix .. 'spelling', kind .. RECORD .. name, kind .. UNIT .. folded) end
end

-- A category or label lost its last member: its hint goes to a name that looks alike and is new, if there is one.
function write.vanished(kind, name)
  call('ZREM', prefix .. known_names[kind], name)
  plan.unhint(kind .. UNIT .. loosen(name), name)
  plan.gone[kind][name] = true
  write.unspell(kind, name)
end

-- Category and label names stand at the newest touch of their members, and vanish with the last one.
function write.names(kind)
  local known, scores = prefix .. known_names[kind], {}
  for name, newest in pairs(plan.dirty[kind]) do
    local score = newest > 0 and newest or call('ZREVRANGE', prefix .. kind .. ':' .. name, 0, 0, 'WITHSCORES')[2]
    if score then
      scores[#scores + 1], scores[#scores + 2] = score, name
    else
      write.vanished(kind, name)
    end
  end
  for from = 1, #scores, CHUNK do call('ZADD', known, unpack(scores, from, math.min(from + CHUNK - 1, #scores))) end
end

function write.spellings()
  for kind, names in pairs(work.spelled) do
    for folded, name in pairs(names) do
      if name ~= folded and plan.created[kind][name] then
        call('HSET', prefix .. 'spelling', kind .. UNIT .. folded, name, kind .. RECORD .. name, folded)
      end
    end
  end
end

function write.hints()
  local gone, set = {}, {}
  for field, name in pairs(plan.hints) do
    name = name or plan.waiting[field]
    if name then
      set[#set + 1], set[#set + 2] = field, name
    else
      gone[#gone + 1] = field
    end
  end
  for from = 1, #gone, CHUNK do
    call('HDEL', prefix .. 'hints', unpack(gone, from, math.min(from + CHUNK - 1, #gone)))
  end
  for from = 1, #set, CHUNK do
    call('HSET', prefix .. 'hints', unpack(set, from, math.min(from + CHUNK - 1, #set)))
  end
end

-- Salted hashes of what was forgotten, so that a replay or an import of it can be refused.
function write.forgotten(unit)
  local facts = unit.before
  if not facts then return end
  local entries = {now, redis.sha1hex(work.salt .. 'content' .. unit.clue .. UNIT .. facts.digest)}
  if facts.origin ~= '-' then
    entries[3], entries[4] = now, redis.sha1hex(work.salt .. 'source' .. facts.origin)
  end
  call('ZADD', tag_prefix .. 'forgotten', unpack(entries))
end

function write.removed(changed)
  local WITHDRAWN_KEPT = 1000
  for _, unit in ipairs(changed) do
    if not unit.new then
      write.unspell('clue', unit.clue)
      if unit.why == 'forget' then write.forgotten(unit) end
    end
  end
  local floor = call('ZRANGE', prefix .. 'withdrawn', -WITHDRAWN_KEPT - 1, -WITHDRAWN_KEPT - 1, 'WITHSCORES')[2]
  if floor then
    call('ZREMRANGEBYSCORE', prefix .. 'withdrawn', '-inf', floor)
    call('HSET', meta_key, 'withdrawn_floor', floor)
  end
end

-- No rendered text may outlive what it shows; nobody may keep one that was read before.
function write.end_of_epochs()
  for _, profile in ipairs(call('ZRANGE', prefix .. 'snapshots', 0, -1)) do
    call('UNLINK', prefix .. 'snapshot:' .. profile)
  end
  call('UNLINK', prefix .. 'snapshots')
  call('HSET', meta_key, 'barrier', work.next_seq())
end

function write.meta()
  call('HSET', meta_key, 'seq', work.seq, 'clock', work.clock, 'journal_bytes', journal.bytes,
    'max_impressions', settings.max_impressions)
  if not meta[6] then
    call('HSET', meta_key, 'layout', settings.layout, 'generation', generation, 'half_life', work.half_life,
      'salt', work.salt)
  end
end

-- Carries out everything at once. Returns how many journal entries a forgetting removed, and whether a record changed.
local function commit(operation)
  local changed, forgotten = plan.all()
  if #changed == 0 and #forgotten == 0 and #also == 0 then return 0, false end
  plan.probe_rest(forgotten)
  local length = call('XLEN', journal.key)

  -- A full server refuses a script whose first write needs memory: what only removes begins with removing.
  local grows = false
  for _, unit in ipairs(changed) do grows = grows or unit.new end
  if grows then journal.write(changed, operation) end
  for _, unit in ipairs(changed) do write.unit(unit) end
  if #changed > 0 then
    if not grows then journal.write(changed, operation) end
    length = length + 1
  end
  for _, extra in ipairs(also) do extra.write() end
  write.links()
  write.names('category')
  write.names('label')
  write.hints()
  write.spellings()
  if plan.removals then write.removed(changed) end
  local scrubbed = 0
  if #forgotten > 0 then
    scrubbed = journal.scrub(forgotten)
    write.end_of_epochs()
  end
  journal.trim(length - scrubbed)
  write.meta()
  return scrubbed, #changed > 0
end
