-- Every change of a scope: checks guards, runs operations in order on copies, then writes all or nothing.
--
-- KEYS[1]  meta key of the scope
-- ARGV[1]  layout version          ARGV[2]  max impressions        ARGV[3]  half-life, ms
-- ARGV[4]  default lifetime, ms, or ''                             ARGV[5]  journal bytes
-- ARGV[6]  journal entries         ARGV[7]  journal age, ms        ARGV[8]  a random salt (used once per scope)
-- ARGV[9]  source of the change or ''   ARGV[10]  reason or ''     ARGV[11] transaction to continue, or ''
-- ARGV[12] number of guards; then per guard: kind, subject, value
--            generation '' n      the scope was not erased since
--            record clue seq      the record's last change is still seq (0: there is none)
--            seen thread n        the thread's count of distilled turns is still n
-- then per operation: name, number of arguments, arguments; names are "<folded>" or "<folded>RECORD<spelling>"
--            save clue filing record pin(0|1) lifetime-in-ms-or-'' digest origin terms
--            put clue filing record facts pinned-at-or-'' expires-or-'' terms      (import; seq 0: assigned here)
--            merge-names kind target most source...        merge-clues target record digest origin terms most-labels source...
--            pin clue   unpin clue   confirm clue   forget clue   seen thread digest...
--
-- Reply: {'ok', transaction or '', now, generation, evicted, expired, one reply per operation}
--     or {'!', code, detail...} with nothing written:
--        layout found | capacity limit | not-found kind name | same name | stale what | too-many count
-- Can fail: WRONGTYPE, MOVED, ASK, OOM: before the first write.
--#include lib/scope
local now = now_ms()
local settings = {
  layout = ARGV[1], max_impressions = tonumber(ARGV[2]), half_life = tonumber(ARGV[3]), ttl = ARGV[4],
  journal_bytes = tonumber(ARGV[5]), journal_entries = tonumber(ARGV[6]), journal_age = tonumber(ARGV[7]),
  salt = ARGV[8], source = ARGV[9], reason = ARGV[10], transaction = ARGV[11],
}
--#include lib/unit

local DUE_AT_ONCE = 64
local SEEN_KEPT = 500
local extra_writes = false

local function existing(kind, name)
  local real = name_of(kind, name)
  if kind == 'clue' then
    local unit = load(real)
    if not unit.new then fail('not-found', kind, real) end
    return real, unit
  end
  if not redis.call('ZSCORE', prefix .. known_names[kind], real) then fail('not-found', kind, real) end
  return real
end

local operations = {}

function operations.save(a)
  local clue = name_of('clue', a[1])
  local unit = load(clue)
  local before = unit.new
  local pin = a[4] == '1'
  local image = {record = a[3], filing = filing_of(a[2]), terms = a[8] ~= '' and a[8] or false,
                 expires = expiry_for(pin, a[5])}
  local status = 'created'
  local facts
  if before then
    image.pin = pin and (before.pin or whole(now)) or false
    facts = read_facts(before.facts)
    local same = before.record == image.record and before.filing == image.filing
      and (before.pin and true or false) == pin
    status = same and 'unchanged' or 'changed'
    if not same then facts.revision = facts.revision + 1 end
  else
    image.pin = pin and whole(now) or false
    facts = {created = now, revision = 1, seq = next_seq(), uses = 0, used = 0}
  end
  facts.updated, facts.touched, facts.digest, facts.origin = now, next_touch(), a[6], a[7]
  image.facts = write_facts(facts)
  unit.new, unit.why = image, nil
  return function(similar)
    local alike = {}
    local categories, labels = read_filing(image.filing)
    local function look(kind, name)
      local other = similar[kind .. UNIT .. name]
      if other then alike[#alike + 1] = other end
    end
    look('clue', clue)
    for _, name in ipairs(categories) do look('category', name) end
    for _, name in ipairs(labels) do look('label', name) end
    local twin = unit.twin and not (units[unit.twin] and not units[unit.twin].new) and unit.twin or ''
    return {'save', clue, status, whole(facts.revision), twin, alike}
  end
end

function operations.put(a)
  local clue = name_of('clue', a[1])
  local unit = load(clue)
  local before = unit.new
  local facts = read_facts(a[4])
  local erased = redis.call('ZSCORE', tag_prefix .. 'forgotten',
    redis.sha1hex(salt .. 'content' .. clue .. UNIT .. facts.digest))
  local status
  if erased and tonumber(erased) >= facts.updated then
    status = 'forgotten'
  elseif before and read_facts(before.facts).updated > facts.updated then
    status = 'kept'
  else
    if before then
      facts.seq = read_facts(before.facts).seq
    elseif facts.seq == 0 then
      facts.seq = next_seq()
    end
    clock = math.max(clock, facts.touched)
    local image = {record = a[3], filing = filing_of(a[2]), facts = write_facts(facts),
                   pin = a[5] ~= '' and a[5] or false, expires = a[5] == '' and a[6] ~= '' and a[6] or false,
                   terms = a[7] ~= '' and a[7] or false}
    status = not before and 'created' or 'changed'
    if before and before.record == image.record and before.filing == image.filing and before.facts == image.facts
        and before.pin == image.pin and before.expires == image.expires then
      status = 'unchanged'
    else
      unit.new, unit.why = image, nil
    end
  end
  return function() return {'put', clue, status} end
end

operations['merge-names'] = function(a)
  local kind, most = a[1], tonumber(a[3])
  local target = existing(kind, a[2])
  local sources, members, seen, total = {}, {}, {}, 0
  for i = 4, #a do
    local source = existing(kind, a[i])
    if source ~= target and not seen[source] then
      seen[source] = true
      sources[#sources + 1] = source
      total = total + redis.call('ZCARD', prefix .. index_of[kind] .. source)
    end
  end
  if #sources == 0 then fail('same', target) end
  local taken = {}
  for _, source in ipairs(sources) do
    local room = most - #members
    if room > 0 then
      for _, clue in ipairs(redis.call('ZRANGE', prefix .. index_of[kind] .. source, 0, room - 1)) do
        if not taken[clue] then
          taken[clue] = true
          members[#members + 1] = clue
        end
      end
    end
  end
  load_all(members)
  local moved, labels_moved, label_seen = {}, 0, {}
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
      unit.new.filing = table.concat({table.concat(categories, GROUP), unpack(labels)}, UNIT)
      local facts = bump_revision(unit)
      moved[#moved + 1] = {facts.seq, clue}
    elseif not unit.old then
      -- an index member without a record: nothing to move, only to clean
      for _, source in ipairs(sources) do
        write('zset', 'ZREM', prefix .. index_of[kind] .. source, clue)
        dirty[kind][source] = dirty[kind][source] or 0
      end
    end
  end
  table.sort(moved, function(x, y) return x[1] < y[1] end)
  for i, pair in ipairs(moved) do moved[i] = pair[2] end
  return function()
    return {'merge-names', target, sources, moved, whole(labels_moved), whole(math.max(0, total - #members))}
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
  unit.new.filing = table.concat({table.concat(categories, GROUP), unpack(labels)}, UNIT)
  unit.new.record, unit.new.facts = a[2], write_facts(facts)
  unit.new.terms = a[5] ~= '' and a[5] or false
  unit.new.expires = expiry_for(unit.new.pin, '')
  return function() return {'merge-clues', target, sources} end
end

local function set_pin(a, pin)
  local clue, unit = existing('clue', a[1])
  local change = (unit.new.pin and true or false) ~= pin
  if change then
    unit.new.pin = pin and whole(now) or false
    unit.new.expires = expiry_for(pin, '')
    bump_revision(unit)
  end
  return function() return {'pin', clue, change and '1' or '0'} end
end

function operations.pin(a) return set_pin(a, true) end
function operations.unpin(a) return set_pin(a, false) end

function operations.confirm(a)
  local clue, unit = existing('clue', a[1])
  local facts = read_facts(unit.new.facts)
  facts.uses, facts.used = facts.uses + 1, now
  unit.new.facts = write_facts(facts)
  return function() return {'confirm', clue, whole(facts.uses)} end
end

function operations.forget(a)
  local clue = name_of('clue', a[1])
  local unit = load(clue)
  local lived = unit.new and '1' or '0'
  drop(unit, 'forget')
  return function(_, scrubbed) return {'forget', clue, lived, whole(scrubbed)} end
end

function operations.seen(a)
  local thread = a[1]
  local key = tag_prefix .. 'seen:' .. thread
  local last = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2]
  local count = tonumber(last or 0)
  for i = 2, #a do
    count = count + 1
    write('zset', 'ZADD', key, whole(count), whole(count) .. ' ' .. a[i])
  end
  write('zset', 'ZREMRANGEBYRANK', key, 0, -SEEN_KEPT - 1)
  write('zset', 'ZADD', tag_prefix .. 'threads', whole(now), thread)
  extra_writes = true
  return function() return {'seen', whole(count)} end
end

local guards = {}

function guards.generation(_, value)
  if generation ~= value then fail('stale', 'generation') end
end

function guards.record(name, value)
  local clue = name_of('clue', name)
  local found = redis.call('ZSCORE', prefix .. 'changed', clue) or '0'
  if tonumber(found) ~= tonumber(value) then fail('stale', clue) end
end

function guards.seen(thread, value)
  local last = redis.call('ZREVRANGE', tag_prefix .. 'seen:' .. thread, 0, 0, 'WITHSCORES')[2]
  if tonumber(last or 0) ~= tonumber(value) then fail('stale', 'thread') end
end

local expired, evicted, results, names = {}, {}, {}, {}

local function run()
  local layout = redis.call('HGET', meta_key, 'layout')
  if layout and layout ~= settings.layout then fail('layout', layout) end
  local at = 13
  for _ = 1, tonumber(ARGV[12]) do
    guards[ARGV[at]](ARGV[at + 1], ARGV[at + 2])
    at = at + 3
  end
  local due = redis.call('ZRANGEBYSCORE', prefix .. 'expiry', '-inf', whole(now), 'LIMIT', 0, DUE_AT_ONCE)
  load_all(due)
  for _, clue in ipairs(due) do
    if is_expired(units[clue]) then
      drop(units[clue], 'expire')
      expired[#expired + 1] = clue
    end
  end
  local named = {}
  while at <= #ARGV do
    local name, count = ARGV[at], tonumber(ARGV[at + 1])
    local arguments = {}
    for i = 1, count do arguments[i] = ARGV[at + 1 + i] end
    results[#results + 1] = operations[name](arguments)
    local word = string.match(name, '^[a-z]+')
    if word == 'put' then word = 'import' end
    if not named[word] and word ~= 'seen' then
      named[word] = true
      names[#names + 1] = word
    end
    at = at + 2 + count
  end
  if #expired > 0 then names[#names + 1] = 'expire' end
  evicted = make_room()
end

local ok, failure = pcall(run)
if not ok then
  if type(failure) == 'table' and failure.code then return {'!', failure.code, unpack(failure.detail)} end
  error(failure)
end
local similar, scrubbed, changed = commit(table.concat(names, '+'), evicted, extra_writes)
local replies = {}
for i, result in ipairs(results) do replies[i] = result(similar, scrubbed) end
return {'ok', #changed > 0 and transaction_id() or '', whole(now), generation, evicted, expired, replies}
