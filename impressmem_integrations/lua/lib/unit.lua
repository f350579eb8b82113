-- The unit of work behind every change: loads records as they are, lets operations change a copy, and turns the
-- difference into index writes and one journal entry. Needs lib/scope and the locals `now` and `settings`.
-- Nothing is written before every key about to be written has been probed for its type (which also touches it, so a
-- Cluster slot on the move fails before the first write and not half-way).
-- Can fail: WRONGTYPE, MOVED, ASK, OOM: all before the first write.

local state = redis.call('HMGET', meta_key, 'seq', 'clock', 'journal_bytes', 'half_life', 'salt')
local seq, clock = tonumber(state[1] or 0), tonumber(state[2] or 0)
local journal_bytes = tonumber(state[3] or 0)
local half_life = tonumber(state[4] or settings.half_life)
local salt = state[5] or settings.salt

local function fail(code, ...)
  error({code = code, detail = {...}})
end

local function next_seq()
  seq = seq + 1
  return seq
end

-- Touch times grow strictly within a scope, so ordering by them is ordering by save, whatever the wall clock does.
local function next_touch()
  clock = math.max(now, clock + 1)
  return clock
end

local transaction = settings.transaction
local function transaction_id()
  if transaction == '' then transaction = whole(next_seq()) end
  return transaction
end

-- Units: clue -> {clue, old = image or false, new = image or false, ...}; an image holds the record's stored strings.
local units, order = {}, {}

local function load_all(clues)
  local missing = {}
  for _, clue in ipairs(clues) do
    if not units[clue] then
      missing[#missing + 1] = clue
      units[clue] = {clue = clue, old = false, new = false}
      order[#order + 1] = units[clue]
    end
  end
  if #missing == 0 then return end
  local records = in_chunks('HMGET', prefix .. 'impressions', missing)
  local filings = in_chunks('HMGET', prefix .. 'filing', missing)
  local facts = in_chunks('HMGET', prefix .. 'facts', missing)
  local terms = in_chunks('HMGET', prefix .. 'terms', missing)
  local pins = in_chunks('ZMSCORE', prefix .. 'pins', missing)
  local expiries = in_chunks('ZMSCORE', prefix .. 'expiry', missing)
  for i, clue in ipairs(missing) do
    if records[i] or filings[i] or facts[i] then
      local unit = units[clue]
      unit.old = {record = records[i], filing = filings[i], facts = facts[i], terms = terms[i],
                  pin = pins[i], expires = expiries[i]}
      unit.live = records[i] and filings[i] and facts[i] and true or false
      if unit.live then
        unit.new = {record = records[i], filing = filings[i], facts = facts[i], terms = terms[i],
                    pin = pins[i], expires = expiries[i]}
      end
    end
  end
end

local function load(clue)
  load_all({clue})
  return units[clue]
end

-- Names as stored; a name that is new in this transaction is remembered for the operations after it.
local resolved, spelled, created_names = {}, {}, {}
local function name_of(kind, name)
  local found = resolved[kind .. UNIT .. name]
  if found then return found end
  local real, folded = resolve(kind, name)
  real = spelled[kind .. UNIT .. folded] or real
  resolved[kind .. UNIT .. name] = real
  spelled[kind .. UNIT .. folded] = real
  return real, folded
end

local function filing_of(text)
  local parts = split(text, UNIT)
  local categories = split(parts[1], GROUP)
  local out, taken = {}, {}
  for i, category in ipairs(categories) do categories[i] = name_of('category', category) end
  out[1] = table.concat(categories, GROUP)
  for i = 2, #parts do
    local label = name_of('label', parts[i])
    if not taken[label] then
      taken[label] = true
      out[#out + 1] = label
    end
  end
  return table.concat(out, UNIT)
end

-- When a record expires: after its own lifetime (ms), else after the scope's; pinned ones never do.
local function expiry_for(pin, lifetime)
  if lifetime == '' then lifetime = settings.ttl end
  if pin or lifetime == '' then return false end
  return whole(now + tonumber(lifetime))
end

-- One more revision; the record's times stay, since nobody said it anew.
local function bump_revision(unit)
  local facts = read_facts(unit.new.facts)
  facts.revision = facts.revision + 1
  unit.new.facts = write_facts(facts)
  return facts
end

local function is_expired(unit)
  return unit.live and not unit.old.pin and unit.old.expires and tonumber(unit.old.expires) <= now
end

local function drop(unit, why)
  unit.new, unit.why = false, why
end

---- from here on: the commit ----

local writes, probes, finish = {}, {}, {}
local probe_command = {hash = 'HLEN', zset = 'ZCARD', stream = 'XLEN'}

local function write(kind, command, key, ...)
  probes[key] = kind
  writes[#writes + 1] = {command, key, ...}
end

local function set_of(list)
  local set = {}
  for _, item in ipairs(list) do set[item] = true end
  return set
end

local function loosen(name)
  return (string.gsub(string.lower(name), '[%s%-_%.]', ''))
end

local index_of = {category = 'category:', label = 'label:'}
local dirty = {category = {}, label = {}}   -- name -> newest touch written now, or 0: look it up afterwards
local links = {}                            -- label -> label -> change of the count

local newest_before = clock   -- no member of any index was touched later than this

local function refile(kind, clue, old_names, new_names, touched, moved)
  local old, new = set_of(old_names), set_of(new_names)
  for _, name in ipairs(old_names) do
    if not new[name] then
      write('zset', 'ZREM', prefix .. index_of[kind] .. name, clue)
      dirty[kind][name] = dirty[kind][name] or 0
    end
  end
  for _, name in ipairs(new_names) do
    if moved or not old[name] then
      write('zset', 'ZADD', prefix .. index_of[kind] .. name, touched, clue)
      local newest = moved and tonumber(touched) > newest_before and tonumber(touched) or 0
      dirty[kind][name] = math.max(dirty[kind][name] or 0, newest)
    end
  end
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

local function reterm(clue, old, new)
  if old == new then return end
  local kept = {}
  if new then
    local parts = split(new, UNIT)
    for i = 2, #parts, 2 do
      kept[parts[i]] = true
      write('zset', 'ZADD', prefix .. 'term:' .. parts[i], parts[i + 1], clue)
    end
    write('hash', 'HSET', prefix .. 'terms', clue, new)
  else
    write('hash', 'HDEL', prefix .. 'terms', clue)
  end
  if old then
    local parts = split(old, UNIT)
    for i = 2, #parts, 2 do
      if not kept[parts[i]] then write('zset', 'ZREM', prefix .. 'term:' .. parts[i], clue) end
    end
  end
end

-- Hints are one name per key and only ever point at something that lives: other spellings and equal contents.
local hinted = {}
local function hint(field, name)
  local owner = hinted[field] or redis.call('HGET', prefix .. 'hints', field)
  if not owner then
    write('hash', 'HSET', prefix .. 'hints', field, name)
    hinted[field] = name
  end
  return owner and owner ~= name and owner or false
end

local function unhint(field, name)
  if redis.call('HGET', prefix .. 'hints', field) == name then
    write('hash', 'HDEL', prefix .. 'hints', field)
  end
end

local function name_created(kind, name)
  if created_names[kind .. UNIT .. name] then return end
  if redis.call('ZSCORE', prefix .. known_names[kind], name) then return end
  created_names[kind .. UNIT .. name] = {kind, name}
end

local function name_removed(kind, name)
  unhint(kind .. UNIT .. loosen(name), name)
  local folded = redis.call('HGET', prefix .. 'spelling', kind .. RECORD .. name)
  if folded then
    write('hash', 'HDEL', prefix .. 'spelling', kind .. RECORD .. name, kind .. UNIT .. folded)
  end
end

local function strength(facts)
  local uses = math.log(1 + math.log(1 + facts.uses)) / math.log(2)
  return string.format('%.17g', uses + math.max(facts.touched, facts.used) / half_life)
end

-- One unit's difference as writes. Returns whether anything is different.
local function diff(unit)
  local old, new, clue = unit.old, unit.new, unit.clue
  if not old and not new then return false end
  if old and new and old.record == new.record and old.filing == new.filing and old.facts == new.facts
      and old.pin == new.pin and old.expires == new.expires and old.terms == new.terms then
    return false
  end
  local old_facts = old and old.facts and read_facts(old.facts)
  local facts = new and read_facts(new.facts)
  local old_categories, old_labels = {}, {}
  if old and old.filing then old_categories, old_labels = read_filing(old.filing) end
  local categories, labels = {}, {}
  if new then categories, labels = read_filing(new.filing) end
  local touched = facts and whole(facts.touched)
  local moved = facts and (not old_facts or old_facts.touched ~= facts.touched)
  refile('category', clue, old_categories, categories, touched, moved)
  refile('label', clue, old_labels, labels, touched, moved)
  if not (old and new and old.filing == new.filing) then
    count_links(old_labels, -1)
    count_links(labels, 1)
  end
  if old_facts and not (facts and facts.digest == old_facts.digest) then
    unhint('content' .. UNIT .. old_facts.digest, clue)
  end
  if new then
    if not old or old.record ~= new.record then write('hash', 'HSET', prefix .. 'impressions', clue, new.record) end
    if not old or old.filing ~= new.filing then write('hash', 'HSET', prefix .. 'filing', clue, new.filing) end
    if not old or old.facts ~= new.facts then write('hash', 'HSET', prefix .. 'facts', clue, new.facts) end
    if moved then write('zset', 'ZADD', prefix .. 'clues', touched, clue) end
    if not old_facts or old_facts.seq ~= facts.seq then
      write('zset', 'ZADD', prefix .. 'created', whole(facts.seq), clue)
    end
    for _, name in ipairs(categories) do name_created('category', name) end
    for _, name in ipairs(labels) do name_created('label', name) end
    if not old then name_created('clue', clue) end
    if new.pin then
      if not old or old.pin ~= new.pin then write('zset', 'ZADD', prefix .. 'pins', new.pin, clue) end
      if old and not old.pin then write('zset', 'ZREM', prefix .. 'strength', clue) end
    else
      if old and old.pin then write('zset', 'ZREM', prefix .. 'pins', clue) end
      write('zset', 'ZADD', prefix .. 'strength', strength(facts), clue)
    end
    if new.expires and not (old and old.expires == new.expires) then
      write('zset', 'ZADD', prefix .. 'expiry', new.expires, clue)
    end
    unit.twin = hint('content' .. UNIT .. facts.digest, clue)
    if not unit.live then write('zset', 'ZREM', prefix .. 'withdrawn', clue) end
    local changed = not unit.live or old.record ~= new.record or old.filing ~= new.filing or old.pin ~= new.pin
    if changed then write('zset', 'ZADD', prefix .. 'changed', whole(next_seq()), clue) end
  else
    write('hash', 'HDEL', prefix .. 'impressions', clue)
    write('hash', 'HDEL', prefix .. 'filing', clue)
    write('hash', 'HDEL', prefix .. 'facts', clue)
    for _, index in ipairs({'clues', 'created', 'changed', 'pins', 'strength'}) do
      write('zset', 'ZREM', prefix .. index, clue)
    end
    name_removed('clue', clue)
    if unit.why == 'forget' then
      write('zset', 'ZREM', prefix .. 'withdrawn', clue)
    else
      write('zset', 'ZADD', prefix .. 'withdrawn', whole(next_seq()), clue)
    end
  end
  if old and old.expires and not (new and new.expires) then write('zset', 'ZREM', prefix .. 'expiry', clue) end
  reterm(clue, old and old.terms, new and new.terms)
  return true
end

local function write_links()
  for label, others in pairs(links) do
    local shrinks = false
    for other, change in pairs(others) do
      if change ~= 0 then write('zset', 'ZINCRBY', prefix .. 'links:' .. label, whole(change), other) end
      shrinks = shrinks or change < 0
    end
    if shrinks then write('zset', 'ZREMRANGEBYSCORE', prefix .. 'links:' .. label, '-inf', '0') end
  end
end

-- Category and label names stand at the newest touch of their members, and vanish with the last one.
local function write_names()
  for kind, names in pairs(dirty) do
    for name, newest in pairs(names) do
      local known = prefix .. known_names[kind]
      if newest > 0 then
        write('zset', 'ZADD', known, whole(newest), name)
      else
        probes[known] = 'zset'
        probes[prefix .. 'spelling'], probes[prefix .. 'hints'] = 'hash', 'hash'
        finish[#finish + 1] = function()
          local top = redis.call('ZREVRANGE', prefix .. index_of[kind] .. name, 0, 0, 'WITHSCORES')
          if top[1] then
            redis.call('ZADD', known, top[2], name)
          else
            redis.call('ZREM', known, name)
            writes = {}
            name_removed(kind, name)
            for _, w in ipairs(writes) do redis.call(unpack(w)) end
          end
        end
      end
    end
  end
end

-- Spellings and hints of names that are new; returns "kind UNIT name" -> the existing name that looks like it.
local function write_new_names()
  local similar = {}
  for id, entry in pairs(created_names) do
    local kind, name = entry[1], entry[2]
    similar[id] = hint(kind .. UNIT .. loosen(name), name)
  end
  for id, name in pairs(spelled) do
    local kind_folded = split(id, UNIT)
    local kind, folded = kind_folded[1], kind_folded[2]
    if name ~= folded and created_names[kind .. UNIT .. name] then
      write('hash', 'HSET', prefix .. 'spelling', kind .. UNIT .. folded, name, kind .. RECORD .. name, folded)
    end
  end
  return similar
end

local function netstring(text)
  text = text or ''
  return #text .. ':' .. text .. ','
end

-- Removes journal entries that hold before-images of forgotten clues; returns how many.
local function scrub_journal(clues)
  local removed = 0
  for _, entry in ipairs(redis.call('XRANGE', prefix .. 'journal', '-', '+')) do
    local fields = {}
    for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
    for _, clue in ipairs(clues) do
      if string.find(fields.clues or '', UNIT .. clue .. UNIT, 1, true) then
        redis.call('XDEL', prefix .. 'journal', entry[1])
        journal_bytes = journal_bytes - tonumber(fields.bytes)
        removed = removed + 1
        break
      end
    end
  end
  return removed
end

local function trim_journal()
  local key = prefix .. 'journal'
  local oldest_allowed = now - settings.journal_age
  for _ = 1, 200 do
    local oldest = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
    if not oldest then
      journal_bytes = 0
      return
    end
    local fields = {}
    for i = 1, #oldest[2], 2 do fields[oldest[2][i]] = oldest[2][i + 1] end
    local length = redis.call('XLEN', key)
    local over = journal_bytes > settings.journal_bytes and length > 1
    if not over and length <= settings.journal_entries and tonumber(fields.at) >= oldest_allowed then return end
    redis.call('XDEL', key, oldest[1])
    journal_bytes = journal_bytes - tonumber(fields.bytes)
  end
end

local MAX_TRANSACTION_BYTES = 4194304

local function write_journal(changed, operation)
  local names, images, size = {''}, {}, 0
  for _, unit in ipairs(changed) do
    if unit.why ~= 'forget' then
      local old = unit.live and unit.old or {}
      local image = netstring(unit.clue) .. netstring(old.record) .. netstring(old.filing) .. netstring(old.facts)
        .. netstring(old.pin) .. netstring(old.expires)
      names[#names + 1] = unit.clue
      images[#images + 1] = image
      size = size + #image
    end
  end
  names[#names + 1] = ''
  local before, undoable = table.concat(images), '1'
  if size > MAX_TRANSACTION_BYTES then before, undoable = '', '0' end
  local listed = #names > 2 and table.concat(names, UNIT) or ''
  local bytes = #before + #listed + #settings.source + #settings.reason + 100
  journal_bytes = journal_bytes + bytes
  write('stream', 'XADD', prefix .. 'journal', '*', 'transaction', transaction_id(), 'operation', operation,
    'at', whole(now), 'clues', listed, 'source', settings.source, 'reason', settings.reason,
    'undoable', undoable, 'bytes', whole(bytes), 'before', before)
end

local WITHDRAWN_KEPT = 1000

-- Weakest unpinned impressions leave until the scope fits; never one that this transaction writes.
local function make_room()
  local count = redis.call('HLEN', prefix .. 'impressions')
  for _, unit in ipairs(order) do
    local was = unit.old and unit.old.record and 1 or 0
    count = count + (unit.new and 1 or 0) - was
  end
  local excess = count - settings.max_impressions
  if excess <= 0 then return {} end
  local leaving, evicted = {}, {}
  for _, clue in ipairs(redis.call('ZRANGE', prefix .. 'strength', 0, excess + #order - 1)) do
    if #leaving < excess and not units[clue] then leaving[#leaving + 1] = clue end
  end
  if #leaving < excess then fail('capacity', whole(settings.max_impressions)) end
  load_all(leaving)
  for i, clue in ipairs(leaving) do
    drop(units[clue], 'evict')
    evicted[i] = clue
  end
  return evicted
end

-- Carries out everything at once. Returns the evicted clues, the similar names, and how many journal entries a
-- forgetting removed. `extra` says whether something besides records changed (so that meta must be written).
local function commit(operation, evicted, extra)
  local changed, forgotten = {}, {}
  for _, unit in ipairs(order) do
    if unit.why == 'forget' then forgotten[#forgotten + 1] = unit end
    if diff(unit) then changed[#changed + 1] = unit end
  end
  if #changed == 0 and #forgotten == 0 and not extra then return {}, 0, changed end
  write_links()
  write_names()
  local similar = write_new_names()
  if #changed > 0 then
    if #evicted > 0 then operation = operation .. '+evict' end
    write_journal(changed, operation)
  end
  for _, unit in ipairs(forgotten) do
    if unit.old and unit.old.facts then
      local facts = read_facts(unit.old.facts)
      write('zset', 'ZADD', tag_prefix .. 'forgotten', whole(now),
        redis.sha1hex(salt .. 'content' .. unit.clue .. UNIT .. facts.digest))
      if facts.origin ~= '-' then
        write('zset', 'ZADD', tag_prefix .. 'forgotten', whole(now), redis.sha1hex(salt .. 'source' .. facts.origin))
      end
    end
  end
  probes[meta_key], probes[prefix .. 'journal'] = 'hash', 'stream'
  for key, kind in pairs(probes) do redis.call(probe_command[kind], key) end

  local all = writes
  for i = 1, #all do redis.call(unpack(all[i])) end
  for i = 1, #finish do finish[i]() end
  local scrubbed = 0
  if #forgotten > 0 then
    local clues = {}
    for i, unit in ipairs(forgotten) do clues[i] = unit.clue end
    scrubbed = scrub_journal(clues)
  end
  trim_journal()
  local floor = redis.call('ZRANGE', prefix .. 'withdrawn', -WITHDRAWN_KEPT - 1, -WITHDRAWN_KEPT - 1, 'WITHSCORES')
  if floor[2] then
    redis.call('ZREMRANGEBYSCORE', prefix .. 'withdrawn', '-inf', floor[2])
    redis.call('HSET', meta_key, 'withdrawn_floor', floor[2])
  end
  redis.call('HSET', meta_key, 'layout', settings.layout, 'generation', generation, 'seq', whole(seq),
    'clock', whole(clock), 'journal_bytes', whole(math.max(0, journal_bytes)), 'half_life', whole(half_life),
    'salt', salt, 'max_impressions', whole(settings.max_impressions))
  return similar, scrubbed, changed
end
