-- Writes the difference between old and new images: records, every index, one journal entry. Needs lib/journal.
-- First every key about to be written is probed for its type (which also touches it, so a Cluster slot on the move
-- fails before the first write), then everything is written.
-- Can fail: WRONGTYPE, MOVED, ASK, OOM: all before the first write.
local WITHDRAWN_KEPT = 1000

local removals = false
local index_of = {category = 'category:', label = 'label:'}
local members = {}          -- index key -> how many members it had before; also says that it was probed
local dirty = {category = {}, label = {}}   -- name -> newest touch written now, or 0: look it up afterwards
local created_names = {}    -- kind UNIT name -> true
local links = {}            -- label -> label -> change of the count

local function probe_zset(name)
  local count = members[name]
  if not count then
    count = call('ZCARD', prefix .. name)
    members[name] = count
  end
  return count
end

local function loosen(name)
  return (string.gsub(string.lower(name), '[%s%-_%.]', ''))
end

-- Hints are one name per key and only ever point at something that lives: other spellings and equal contents.
local hinted, hints_set, hints_gone = {}, {}, {}
local function hint(field, name)
  local owner = hinted[field] or call('HGET', prefix .. 'hints', field)
  if not owner then
    hinted[field] = name
    hints_set[#hints_set + 1] = field
    hints_set[#hints_set + 1] = name
  end
  return owner and owner ~= name and owner or false
end

local function unhint(field, name)
  if call('HGET', prefix .. 'hints', field) == name then hints_gone[#hints_gone + 1] = field end
end

local function count_links(labels, change)
  for _, a in ipairs(labels) do
    for _, b in ipairs(labels) do
      if a ~= b then
        links[a] = links[a] or {}
        links[a][b] = (links[a][b] or 0) + change
      end
    end
  end
end

-- What changes in one index: names the record leaves, and names it enters or is touched under.
local function plan_names(kind, old_names, new_names, plan)
  local leaves, enters = {}, {}
  local new = set_of(new_names)
  local old = set_of(old_names)
  local touched = plan.moved and plan.facts.touched > newest_before and plan.facts.touched or 0
  for _, name in ipairs(old_names) do
    if not new[name] then
      leaves[#leaves + 1] = name
      probe_zset(index_of[kind] .. name)
      dirty[kind][name] = dirty[kind][name] or 0
      removals = true
    end
  end
  for _, name in ipairs(new_names) do
    if plan.moved or not old[name] then
      enters[#enters + 1] = name
      if probe_zset(index_of[kind] .. name) == 0 then created_names[kind .. UNIT .. name] = true end
      dirty[kind][name] = math.max(dirty[kind][name] or 0, touched)
    end
  end
  return leaves, enters
end

local function terms_of(text)
  local weights = {}
  if text then
    for term, weight in string.gmatch(text, '\31([^\31]+)\31([^\31]+)') do weights[term] = weight end
  end
  return weights
end

-- Reads whatever the writes of one unit depend on. Returns nil where nothing is different.
local function plan_unit(unit)
  local old, new = unit.old, unit.new
  if not old and not new then return nil end
  if old and new and old.record == new.record and old.filing == new.filing and old.facts == new.facts
      and old.pin == new.pin and old.expires == new.expires and old.terms == new.terms then
    return nil
  end
  local plan = {unit = unit, old = old or {}, new = new, facts = new and read_facts(new.facts)}
  local before = plan.old.facts and read_facts(plan.old.facts)
  local old_categories, old_labels, categories, labels = {}, {}, {}, {}
  if plan.old.filing then old_categories, old_labels = read_filing(plan.old.filing) end
  if new then categories, labels = read_filing(new.filing) end
  plan.before = before
  plan.moved = new and not (before and before.touched == plan.facts.touched)
  plan.leaves_categories, plan.enters_categories = plan_names('category', old_categories, categories, plan)
  plan.leaves_labels, plan.enters_labels = plan_names('label', old_labels, labels, plan)
  if plan.old.filing ~= (new and new.filing) then
    count_links(old_labels, -1)
    count_links(labels, 1)
  end
  if before and not (new and plan.facts.digest == before.digest) then
    unhint('content' .. UNIT .. before.digest, unit.clue)
  end
  if new then
    unit.twin = hint('content' .. UNIT .. plan.facts.digest, unit.clue)
    if not old then
      created_names['clue' .. UNIT .. unit.clue] = true
    end
    plan.changed = not unit.live or old.record ~= new.record or old.filing ~= new.filing or old.pin ~= new.pin
  else
    removals = true
    unhint('clue' .. UNIT .. loosen(unit.clue), unit.clue)
  end
  if plan.old.terms ~= (new and new.terms) then
    plan.old_terms, plan.new_terms = terms_of(plan.old.terms), terms_of(new and new.terms)
    for term in pairs(plan.old_terms) do probe_zset('term:' .. term) end
    for term in pairs(plan.new_terms) do probe_zset('term:' .. term) end
  end
  return plan
end

local function strength(facts)
  local uses = facts.uses == 0 and 0 or math.log(1 + math.log(1 + facts.uses)) / math.log(2)
  return string.format('%.17g', uses + math.max(facts.touched, facts.used) / half_life)
end

local function write_unit(plan)
  local clue, old, new, facts = plan.unit.clue, plan.old, plan.new, plan.facts
  for _, name in ipairs(plan.leaves_categories) do call('ZREM', prefix .. 'category:' .. name, clue) end
  for _, name in ipairs(plan.leaves_labels) do call('ZREM', prefix .. 'label:' .. name, clue) end
  if new then
    local touched = whole(facts.touched)
    if old.record ~= new.record then call('HSET', prefix .. 'impressions', clue, new.record) end
    if old.filing ~= new.filing then call('HSET', prefix .. 'filing', clue, new.filing) end
    if old.facts ~= new.facts then call('HSET', prefix .. 'facts', clue, new.facts) end
    for _, name in ipairs(plan.enters_categories) do call('ZADD', prefix .. 'category:' .. name, touched, clue) end
    for _, name in ipairs(plan.enters_labels) do call('ZADD', prefix .. 'label:' .. name, touched, clue) end
    if plan.moved then call('ZADD', prefix .. 'clues', touched, clue) end
    if not (plan.before and plan.before.seq == facts.seq) then
      call('ZADD', prefix .. 'created', whole(facts.seq), clue)
    end
    if new.pin then
      if old.pin ~= new.pin then call('ZADD', prefix .. 'pins', new.pin, clue) end
      if not old.pin then call('ZREM', prefix .. 'strength', clue) end
    else
      if old.pin then call('ZREM', prefix .. 'pins', clue) end
      call('ZADD', prefix .. 'strength', strength(facts), clue)
    end
    if new.expires and old.expires ~= new.expires then call('ZADD', prefix .. 'expiry', new.expires, clue) end
    if plan.changed then call('ZADD', prefix .. 'changed', whole(next_seq()), clue) end
    if not plan.unit.live and members.withdrawn > 0 then call('ZREM', prefix .. 'withdrawn', clue) end
  else
    for _, name in ipairs({'impressions', 'filing', 'facts'}) do call('HDEL', prefix .. name, clue) end
    for _, name in ipairs({'clues', 'created', 'changed', 'pins', 'strength'}) do call('ZREM', prefix .. name, clue) end
    if plan.unit.why == 'forget' then
      call('ZREM', prefix .. 'withdrawn', clue)
    else
      call('ZADD', prefix .. 'withdrawn', whole(next_seq()), clue)
    end
  end
  if old.expires and not (new and new.expires) then call('ZREM', prefix .. 'expiry', clue) end
  if plan.new_terms then
    for term, weight in pairs(plan.new_terms) do
      if plan.old_terms[term] ~= weight then call('ZADD', prefix .. 'term:' .. term, weight, clue) end
    end
    for term in pairs(plan.old_terms) do
      if not plan.new_terms[term] then call('ZREM', prefix .. 'term:' .. term, clue) end
    end
    if new and new.terms then
      call('HSET', prefix .. 'terms', clue, new.terms)
    else
      call('HDEL', prefix .. 'terms', clue)
    end
  end
end

local function write_links()
  for label, others in pairs(links) do
    local key, shrinks = prefix .. 'links:' .. label, false
    for other, change in pairs(others) do
      if change ~= 0 then call('ZINCRBY', key, change, other) end
      shrinks = shrinks or change < 0
    end
    if shrinks then call('ZREMRANGEBYSCORE', key, '-inf', '0') end
  end
end

local function unspell(kind, name)
  if not any_spelling then return end
  local folded = call('HGET', prefix .. 'spelling', kind .. RECORD .. name)
  if folded then call('HDEL', prefix .. 'spelling', kind .. RECORD .. name, kind .. UNIT .. folded) end
end

-- Category and label names stand at the newest touch of their members, and vanish with the last one.
local function write_names(kind)
  local known, scores = prefix .. known_names[kind], {}
  for name, newest in pairs(dirty[kind]) do
    local score = newest > 0 and whole(newest)
      or call('ZREVRANGE', prefix .. index_of[kind] .. name, 0, 0, 'WITHSCORES')[2]
    if score then
      scores[#scores + 1], scores[#scores + 2] = score, name
    else
      call('ZREM', known, name)
      local field = kind .. UNIT .. loosen(name)
      if call('HGET', prefix .. 'hints', field) == name then call('HDEL', prefix .. 'hints', field) end
      unspell(kind, name)
    end
  end
  for from = 1, #scores, CHUNK do call('ZADD', known, unpack(scores, from, math.min(from + CHUNK - 1, #scores))) end
end

-- Existing names that differ from a new one only by case, blanks, `-`, `_` or `.`: kind UNIT name -> that name.
local function plan_new_names()
  local similar = {}
  for id in pairs(created_names) do
    local kind, name = string.match(id, '^(%l+)\31(.*)$')
    similar[id] = hint(kind .. UNIT .. loosen(name), name)
  end
  return similar
end

local function write_spellings()
  for id, name in pairs(spelled) do
    local kind, folded = string.match(id, '^(%l+)\31(.*)$')
    if name ~= folded and created_names[kind .. UNIT .. name] then
      call('HSET', prefix .. 'spelling', id, name, kind .. RECORD .. name, folded)
    end
  end
end

local function write_hints()
  for from = 1, #hints_gone, CHUNK do
    call('HDEL', prefix .. 'hints', unpack(hints_gone, from, math.min(from + CHUNK - 1, #hints_gone)))
  end
  for from = 1, #hints_set, CHUNK do
    call('HSET', prefix .. 'hints', unpack(hints_set, from, math.min(from + CHUNK - 1, #hints_set)))
  end
end

-- Salted hashes of what was forgotten, so that a replay or an import of it can be refused.
local function remember_forgotten(unit)
  if not (unit.old and unit.old.facts) then return end
  local facts = read_facts(unit.old.facts)
  local entries = {whole(now), redis.sha1hex(salt .. 'content' .. unit.clue .. UNIT .. facts.digest)}
  if facts.origin ~= '-' then
    entries[3], entries[4] = whole(now), redis.sha1hex(salt .. 'source' .. facts.origin)
  end
  call('ZADD', tag_prefix .. 'forgotten', unpack(entries))
end

-- Weakest unpinned impressions leave until the scope fits; never one that this transaction writes.
local function make_room()
  local count = call('HLEN', prefix .. 'impressions')
  for _, unit in ipairs(order) do
    count = count + (unit.new and 1 or 0) - (unit.old and unit.old.record and 1 or 0)
  end
  local excess = count - settings.max_impressions
  if excess <= 0 then return {} end
  local leaving = {}
  for _, clue in ipairs(call('ZRANGE', prefix .. 'strength', 0, excess + #order - 1)) do
    if #leaving < excess and not units[clue] then leaving[#leaving + 1] = clue end
  end
  if #leaving < excess then fail('capacity', whole(settings.max_impressions)) end
  load_all(leaving)
  for _, clue in ipairs(leaving) do drop(units[clue], 'evict') end
  return leaving
end

-- No rendered text may outlive what it shows; nobody may keep one that was read before.
local function end_epochs()
  for _, profile in ipairs(call('ZRANGE', prefix .. 'snapshots', 0, -1)) do
    call('UNLINK', prefix .. 'snapshot:' .. profile)
  end
  call('UNLINK', prefix .. 'snapshots')
  call('HSET', meta_key, 'barrier', whole(next_seq()))
end

local function write_meta()
  if meta[2] then
    call('HSET', meta_key, 'seq', whole(seq), 'clock', whole(clock), 'journal_bytes', whole(journal_bytes),
      'max_impressions', settings.max_impressions)
  else
    call('HSET', meta_key, 'layout', settings.layout, 'generation', generation, 'seq', whole(seq),
      'clock', whole(clock), 'journal_bytes', whole(journal_bytes), 'half_life', whole(half_life), 'salt', salt,
      'max_impressions', settings.max_impressions)
  end
end

-- Carries out everything at once. `also(probe or write)` handles what is not a record (turns seen, stray members).
-- Returns the names that look alike, how many journal entries a forgetting removed, and whether a record changed.
local function commit(operation, also)
  local plans, forgotten = {}, {}
  for _, unit in ipairs(order) do
    if unit.why == 'forget' then forgotten[#forgotten + 1] = unit.clue end
    plans[#plans + 1] = plan_unit(unit)
  end
  if #plans == 0 and #forgotten == 0 and #also == 0 then return {}, 0, false end
  local similar = plan_new_names()
  for _, name in ipairs({'clues', 'created', 'changed', 'strength', 'withdrawn', 'categories', 'labels'}) do
    probe_zset(name)
  end
  for label in pairs(links) do probe_zset('links:' .. label) end
  for _, extra in ipairs(also) do extra.probe() end
  if #forgotten > 0 then
    call('ZCARD', tag_prefix .. 'forgotten')
    call('ZCARD', prefix .. 'snapshots')
  end
  if any_spelling == nil then any_spelling = call('HLEN', prefix .. 'spelling') > 0 end
  local length = call('XLEN', journal_key)

  -- A full server refuses a script whose first write needs memory: what only removes begins with removing.
  local changed, grows = {}, false
  for i, plan in ipairs(plans) do
    changed[i] = plan.unit
    grows = grows or plan.new
  end
  local function enter()
    write_journal(changed, operation)
    length = length + 1
  end
  if grows then enter() end
  for _, plan in ipairs(plans) do write_unit(plan) end
  if #plans > 0 and not grows then enter() end
  for _, extra in ipairs(also) do extra.write() end
  write_links()
  write_hints()
  write_names('category')
  write_names('label')
  write_spellings()
  local scrubbed = 0
  if removals then
    for _, plan in ipairs(plans) do
      if not plan.new then
        unspell('clue', plan.unit.clue)
        if plan.unit.why == 'forget' then remember_forgotten(plan.unit) end
      end
    end
    local floor = call('ZRANGE', prefix .. 'withdrawn', -WITHDRAWN_KEPT - 1, -WITHDRAWN_KEPT - 1, 'WITHSCORES')[2]
    if floor then
      call('ZREMRANGEBYSCORE', prefix .. 'withdrawn', '-inf', floor)
      call('HSET', meta_key, 'withdrawn_floor', floor)
    end
  end
  if #forgotten > 0 then
    scrubbed = scrub_journal(forgotten)
    end_epochs()
  end
  trim_journal(length - scrubbed)
  write_meta()
  return similar, scrubbed, #plans > 0
end
