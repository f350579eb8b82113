-- Brings the impressions and the kept messages of some time: those of the first span, newest first, then the next.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  most rows of each kind    ARGV[2]  rows of each kind whose times are looked at; a long one counts as several
-- ARGV[3..] spans, the most wanted first: from and to in ms, `to` excluded
-- Reply: as that of search.lua, without scores and counts
-- Can fail: WRONGTYPE. Reads only.
--
-- A message's time stands in its value. An impression's is the one it is shown under: when it was said, where its record
-- says so, else its last save. Where no more are kept than ARGV[2], all are looked at. Where more are, the end of a span
-- is found by bisection, over positions or the order of creation, and read backwards from there until a whole step lies
-- before the span; where that brings nothing, the newest are looked at. It is right as long as things are kept as they
-- are said: what was filled in afterwards, with older times than what it stands behind, may be missed or hide others.
-- Impressions touched within a span are found besides.
--#include lib/scope
--#include lib/rows
--#include lib/living
local most, looks = tonumber(ARGV[1]), tonumber(ARGV[2])
local STEP, LONG = 50, 8192
local now = now_ms()
local over, is_over = expired(now)
local spans = {}
for i = 3, #ARGV, 2 do spans[#spans + 1] = {tonumber(ARGV[i]), tonumber(ARGV[i + 1])} end

-- A source of rows in an order in which time rises: places from `first` to before `following`. `members(from, to)` gives
-- the members at these places, `values(members)` what is kept of each, `times(values, members)` their times.
local function source(first, following, members, values, times)
  return {first = first, following = following, members = members, values = values, times = times,
          left = looks, seen = {}, found = {}, over = {}}
end

-- Reads members and notes those that lie in a span. Returns whether some are before `from`, and whether some are not.
local function look(s, members, from)
  local values, early, late = s.values(members), false, false
  local times = s.times(values, members)
  for i, member in ipairs(members) do
    local time = values[i] and times[i]
    if time then
      if time < from then early = true else late = true end
      if not s.seen[member] and not s.over[member] then
        s.seen[member], s.left = true, s.left - 1 - math.floor(#values[i] / LONG)
        for rank, span in ipairs(spans) do
          if time >= span[1] and time < span[2] then
            s.found[#s.found + 1] = {member = member, time = time, rank = rank, order = #s.found, value = values[i]}
            break
          end
        end
      end
    end
  end
  return early, late
end

-- The place after the last row before a time. Forgotten rows leave gaps, which are stepped over.
local function place_of(s, time)
  local low, high = s.first, s.following
  while low < high do
    local middle = math.floor((low + high) / 2)
    local at, said = middle, nil
    while at < high do
      local members = s.members(at, at + 1)
      local values = s.values(members)
      said = values[1] and s.times(values, members)[1]
      if said then break end
      at = at + 1
    end
    if said and said < time then low = at + 1 else high = middle end
  end
  return low
end

-- Reads backwards from a place until a whole step lies before `from`, or enough is found.
local function walk(s, place, from, enough)
  while place > s.first and s.left > 0 and #s.found < enough do
    local start = math.max(s.first, place - math.min(STEP, s.left))
    local early, late = look(s, s.members(start, place), from)
    if early and not late then return end
    place = start
  end
end

-- What lies in the spans, in their order.
local function gather(s)
  if s.following - s.first > looks then
    for _, span in ipairs(spans) do
      if #s.found >= most or s.left <= 0 then break end
      walk(s, place_of(s, span[2]), span[1], most)
    end
  end
  if #s.found == 0 then walk(s, s.following, -math.huge, math.huge) end
  table.sort(s.found, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    if a.time ~= b.time then return a.time > b.time end
    return a.order < b.order
  end)
  return s.found
end

local function impressions()
  local created = prefix .. 'created'
  local s = source(0, call('ZCARD', created),
    function(from, to) return call('ZRANGE', created, from, to - 1) end,
    function(clues) return #clues > 0 and call('HMGET', prefix .. 'impressions', unpack(clues)) or {} end,
    function(records, clues)
      local times, facts = {}, nil
      for i, record in ipairs(records) do
        times[i] = record and tonumber(string.match(record, '^[^\n]*[,{]"t":(%-?%d+)}\n'))
        if record and not times[i] then
          facts = facts or call('HMGET', prefix .. 'facts', unpack(clues))
          times[i] = facts[i] and read_facts(facts[i]).updated
        end
      end
      return times
    end)
  s.over = is_over
  if s.following > looks then
    for _, span in ipairs(spans) do
      if #s.found >= most or s.left <= 0 then break end
      local touched = call('ZREVRANGEBYSCORE', prefix .. 'clues', '(' .. whole(span[2]), whole(span[1]), 'LIMIT', 0,
        math.min(most, s.left) + math.min(#over, 5 * CHUNK))
      look(s, touched, span[1])
    end
  end
  local order, out, shown = {}, {}, {}
  for i, one in ipairs(gather(s)) do order[i] = one.member end
  append_rows(out, order, now, function(_, clue)
    shown[#shown + 1] = clue
    return #shown >= most
  end)
  for i, clue in ipairs(shown) do
    out[i] = string.format('0\0300\0300\0300\030%d\030', call('ZRANK', created, clue) or 0) .. out[i]
  end
  return out
end

local function turns()
  local s = source(tonumber(meta[10] or 1), tonumber(meta[11] or 1),
    function(from, to)
      local places = {}
      for place = from, to - 1 do places[#places + 1] = whole(place) end
      return places
    end,
    function(places) return call('HMGET', prefix .. 'turns', unpack(places)) end,
    function(values)
      local times = {}
      for i, value in ipairs(values) do times[i] = value and tonumber(string.match(value, '^%-?%d+')) end
      return times
    end)
  local out = {}
  for i, one in ipairs(gather(s)) do
    if i > most then break end
    out[i] = '0\0300\030' .. one.member .. '\030' .. one.value
  end
  return out
end

return {now, impressions(), turns(), 0, 0}
