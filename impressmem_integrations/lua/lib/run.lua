-- Checks guards, runs the operations of ARGV on copies, then writes all or nothing. Needs lib/commit and operations.
-- Can fail: WRONGTYPE, MOVED, ASK, OOM: before the first write.
local DUE_AT_ONCE = 64
local JOURNAL_WORDS = {put = 'import', ['merge-names'] = 'merge', ['merge-clues'] = 'merge', seen = false,
                       failed = false, collect = false, settle = false}

local guards = {}

function guards.generation(_, value)
  if generation ~= value then fail('stale', 'generation') end
end

function guards.record(name, value)
  local clue = name_of('clue', name)
  local found = call('ZSCORE', prefix .. 'changed', clue) or '0'
  if tonumber(found) ~= tonumber(value) then fail('stale', clue) end
end

function guards.seen(thread, value)
  local last = call('ZREVRANGE', tag_prefix .. 'seen:' .. thread, 0, 0, 'WITHSCORES')[2]
  if tonumber(last or 0) ~= tonumber(value) then fail('stale', 'thread') end
end

local expired, evicted, results, words = {}, {}, {}, {}

local function run()
  if meta[2] and meta[2] ~= settings.layout then fail('layout', meta[2]) end
  local at = 13
  for _ = 1, tonumber(ARGV[12]) do
    guards[ARGV[at]](ARGV[at + 1], ARGV[at + 2])
    at = at + 3
  end
  local due = call('ZRANGEBYSCORE', prefix .. 'expiry', '-inf', whole(now), 'LIMIT', 0, DUE_AT_ONCE)
  if #due > 0 then
    load_all(due)
    for _, clue in ipairs(due) do
      local unit = units[clue]
      if unit.live and not unit.old.pin then
        drop(unit, 'expire')
        expired[#expired + 1] = clue
      end
    end
  end
  local used = {}
  while at <= #ARGV do
    local name, count = ARGV[at], tonumber(ARGV[at + 1])
    results[#results + 1] = operations[name]({unpack(ARGV, at + 2, at + 1 + count)})
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
  if type(failure) == 'table' and failure.code then return {'!', failure.code, unpack(failure.detail)} end
  error(failure)
end
local similar, scrubbed, changed = commit(table.concat(words, '+'), also)
local replies = {}
for i, result in ipairs(results) do replies[i] = result(similar, scrubbed) end
return {'ok', changed and transaction_id() or '', whole(now), generation, evicted, expired, replies}
