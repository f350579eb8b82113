-- Checks guards, runs the operations of ARGV on images, then writes all or nothing. Needs lib/commit and operations.
-- Can fail: WRONGTYPE, MOVED, ASK, OOM: before the first write.
local JOURNAL_WORDS = {put = 'import', ['merge-names'] = 'merge', ['merge-clues'] = 'merge', seen = false,
                       failed = false, collect = false, settle = false, remember = false}

-- Checks the guards, which begin at ARGV[at]. Returns where the operations begin.
local function check_guards(at)
  local guards = {}

  function guards.generation(_, value)
    if generation ~= value then fail('stale', 'generation', '') end
  end

  function guards.record(name, value)
    local clue = work.name_of('clue', name)
    local text = call('HGET', prefix .. 'facts', clue)
    local facts = text and read_facts(text)
    local found = facts and whole(facts.seq) .. ' ' .. whole(facts.revision) or '0 0'
    if found ~= value then fail('stale', 'record', clue) end
  end

  function guards.seen(thread, value)
    local last = call('ZREVRANGE', tag_prefix .. 'seen:' .. thread, 0, 0, 'WITHSCORES')[2]
    if tonumber(last or 0) ~= tonumber(value) then fail('stale', 'thread', thread) end
  end

  function guards.plan(id)
    if call('HEXISTS', prefix .. 'plans', id) == 0 then fail('not-found', 'plan', id) end
  end

  for _ = 1, tonumber(ARGV[13]) do
    guards[ARGV[at]](ARGV[at + 1], ARGV[at + 2])
    at = at + 3
  end
  return at
end

-- Records whose time is over leave, some at each change. Returns their clues.
local function expire()
  local DUE_AT_ONCE = 64
  local dropped = {}
  local first = call('ZRANGE', prefix .. 'expiry', 0, 0, 'WITHSCORES')
  work.expiring = first[1] and true or false
  if not first[1] or tonumber(first[2]) > now then return dropped end
  local due = call('ZRANGEBYSCORE', prefix .. 'expiry', '-inf', now, 'LIMIT', 0, DUE_AT_ONCE)
  work.load_all(due)
  for _, clue in ipairs(due) do
    local unit = work.units[clue]
    if unit.live and not unit.old.pin then
      unit.new, unit.why = false, 'expire'
      dropped[#dropped + 1] = clue
    end
  end
  return dropped
end

-- Up to `most` plain clues that this transaction does not write, touched longest ago first: {strength, clue}.
local function weakest_plain(most)
  local key, page = prefix .. 'clues', math.min(most + work.count_loaded() + 2, CHUNK)
  local start, offset, known, list = work.weak_from, 0, false, {}
  repeat
    local part = call('ZRANGEBYSCORE', key, whole(start), '+inf', 'WITHSCORES', 'LIMIT', offset, page)
    local clues = {}
    for i = 1, #part, 2 do clues[#clues + 1] = part[i] end
    if not clues[1] then break end
    local pins = call('ZMSCORE', prefix .. 'pins', unpack(clues))
    local strengths = call('ZMSCORE', prefix .. 'strength', unpack(clues))
    for i, clue in ipairs(clues) do
      local touched = tonumber(part[2 * i])
      local plain = not pins[i] and not strengths[i]
      if not known then
        work.weak_from, known = touched, plain
      end
      if plain and #list < most and not work.is_loaded(clue) then list[#list + 1] = {touched / work.half_life, clue} end
    end
    offset = offset + #clues
    local more = #clues == page and #list < most
    page = math.min(4 * page, CHUNK)   -- what is not plain stands in rows: further pages are larger
  until not more
  return list
end

-- Up to `most` strong clues that this transaction does not write, the weakest first: {strength, clue}.
local function weakest_strong(most)
  local list = {}
  local part = call('ZRANGE', prefix .. 'strength', 0, most + work.count_loaded() - 1, 'WITHSCORES')
  for i = 1, #part, 2 do
    if not work.is_loaded(part[i]) then list[#list + 1] = {tonumber(part[i + 1]), part[i]} end
  end
  return list
end

-- Weakest unpinned impressions leave until the scope fits; never one that this transaction writes. Returns their clues.
local function make_room()
  local EVICTED_AT_ONCE = 1000   -- where the limit was lowered, the rest goes at the next changes
  local leaving, order, growth = {}, work.order, 0
  for _, unit in ipairs(order) do
    growth = growth + (unit.new and 1 or 0) - (unit.old and unit.old.record and 1 or 0)
  end
  if growth <= 0 then return leaving end   -- so unpinning and forgetting work where the limit is below the pins
  local excess = call('HLEN', prefix .. 'impressions') + growth - settings.max_impressions
  if excess <= 0 then return leaving end
  excess = math.min(excess, EVICTED_AT_ONCE)
  local plain, strong, p, s = weakest_plain(excess), weakest_strong(excess), 1, 1
  for i = 1, math.min(excess, #plain + #strong) do
    local a, b = plain[p], strong[s]
    if not b or a and (a[1] < b[1] or a[1] == b[1] and a[2] < b[2]) then
      leaving[i], p = a[2], p + 1
    else
      leaving[i], s = b[2], s + 1
    end
  end
  if #leaving < excess then fail('capacity', whole(settings.max_impressions)) end
  work.load_all(leaving)
  for _, clue in ipairs(leaving) do work.units[clue].new, work.units[clue].why = false, 'evict' end
  return leaving
end

-- Loads the records of a batch at once.
local function load_batch(at, last)
  local clues = {}
  while at <= last do
    if ARGV[at] ~= 'save' and ARGV[at] ~= 'put' then return end
    clues[#clues + 1] = work.name_of('clue', ARGV[at + 2])
    at = at + 2 + tonumber(ARGV[at + 1])
  end
  work.load_all(clues)
end

local expired, evicted, replies, finishers, words = {}, {}, {}, {}, {}

local function run()
  if meta[2] and meta[2] ~= settings.layout then fail('layout', meta[2]) end
  local at, last, used = 14, #ARGV, {}
  if ARGV[13] ~= '0' then at = check_guards(at) end
  expired = expire()
  if at + 2 + tonumber(ARGV[at + 1] or 0) <= last then load_batch(at, last) end
  while at <= last do
    local name, count = ARGV[at], tonumber(ARGV[at + 1])
    local n = #replies + 1
    replies[n], finishers[n] = operations[name]({unpack(ARGV, at + 2, at + 1 + count)})
    local word = JOURNAL_WORDS[name]
    if word == nil then word = name end
    if word and not used[word] then
      used[word] = true
      words[#words + 1] = word
    end
    at = at + 2 + count
  end
  if #expired > 0 then words[#words + 1] = 'expire' end
  evicted = make_room()
  if #evicted > 0 then words[#words + 1] = 'evict' end
end

local ok, failure = pcall(run)
if not ok then
  if type(failure) == 'table' and failure.code then
    if failure.code == 'not-found' then failure.detail[3] = whole(#replies) end
    return {'!', failure.code, unpack(failure.detail)}
  end
  error(failure)
end
local scrubbed, changed = commit(table.concat(words, '+'))
for i, reply in ipairs(replies) do
  if finishers[i] then finishers[i](reply, scrubbed) end
end
return {'ok', changed and journal.transaction_id() or '', whole(now), generation, evicted, expired, replies}
