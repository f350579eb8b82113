-- Brings the impressions and the kept messages of some time: those of the first span, newest first, then the next.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  most rows of each kind    ARGV[2]  most impressions, and most messages of a span, whose times are looked at
-- ARGV[3..] spans, the most wanted first: from and to in ms, `to` excluded
-- Reply: {now in ms, {row of an impression...}, {row of a turn...}}, rows as those of search.lua, without scores
-- Can fail: WRONGTYPE. Reads only.
--
-- The time of an impression is the one it is shown under: when it was said where its record says so, else its last
-- save. Looked at are those touched within a span and the newest by touch: all, in a scope of ARGV[2] at most; in a
-- larger one an impression is missed that was filled in later with an older time, or confirmed after that time, and
-- many were touched since.
-- The time of a message is told by its value. Where more are kept than ARGV[2], the end of a span is found by
-- bisection over positions, and read backwards from there until a whole step lies before the span. Positions rise with
-- time as long as turns are kept as they are said; threads filled in afterwards may be missed then, or found in part.
--#include lib/scope
--#include lib/rows
local most, looks = tonumber(ARGV[1]), tonumber(ARGV[2])
local STEP, MOST_BYTES = 100, 8388608
local now = now_ms()
local spans = {}
for i = 3, #ARGV, 2 do spans[#spans + 1] = {tonumber(ARGV[i]), tonumber(ARGV[i + 1])} end

-- Adds what lies in a span to a list.
local function take(list, member, time, order, value)
  for rank, span in ipairs(spans) do
    if time >= span[1] and time < span[2] then
      list[#list + 1] = {member = member, time = time, rank = rank, order = order, value = value}
      return
    end
  end
end

local function by_rank(list)
  table.sort(list, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    if a.time ~= b.time then return a.time > b.time end
    return a.order > b.order
  end)
  return list
end

local function impressions()
  local seen, clues = {}, {}
  local function look(page)
    for _, clue in ipairs(page) do
      if not seen[clue] and #clues < 2 * looks then seen[clue], clues[#clues + 1] = true, clue end
    end
  end
  for _, span in ipairs(spans) do
    look(call('ZREVRANGEBYSCORE', prefix .. 'clues', '(' .. whole(span[2]), whole(span[1]), 'LIMIT', 0, looks - #clues))
    if #clues >= looks then break end
  end
  look(call('ZREVRANGE', prefix .. 'clues', 0, looks - 1))
  local found, bytes = {}, 0
  for from = 1, #clues, STEP do
    local part = {unpack(clues, from, math.min(from + STEP - 1, #clues))}
    local records = call('HMGET', prefix .. 'impressions', unpack(part))
    local facts = call('HMGET', prefix .. 'facts', unpack(part))
    for i, clue in ipairs(part) do
      if records[i] and facts[i] then
        bytes = bytes + #records[i]
        local said = string.match(records[i], ',"t":(%-?%d+)}$', -32)
        take(found, clue, tonumber(said or string.match(facts[i], '^%d+ (%d+)')), clue)
      end
    end
    if bytes > MOST_BYTES then break end
  end
  local order, out, shown = {}, {}, {}
  for i, one in ipairs(by_rank(found)) do order[i] = one.member end
  append_rows(out, order, now, function(_, clue)
    shown[#shown + 1] = clue
    return #shown >= most
  end)
  for i, clue in ipairs(shown) do
    out[i] = string.format('0\0300\0300\0300\030%d\030', call('ZRANK', prefix .. 'created', clue) or 0) .. out[i]
  end
  return out
end

local function time_of(value)
  return value and tonumber(string.match(value, '^%-?%d+'))
end

local function turns()
  local bounds = call('HMGET', meta_key, 'turn_first', 'turn_next')
  local first, following = tonumber(bounds[1] or 1), tonumber(bounds[2] or 1)
  local found, seen = {}, {}

  -- The position after the last message before a time. Forgotten turns leave gaps, which are stepped over.
  local function position_of(time)
    local low, high = first, following
    while low < high do
      local middle = math.floor((low + high) / 2)
      local at, said = middle, nil
      while at < high do
        said = time_of(call('HGET', prefix .. 'turns', whole(at)))
        if said then break end
        at = at + 1
      end
      if said and said < time then low = at + 1 else high = middle end
    end
    return low
  end

  -- Reads backwards until a whole step lies before `from`.
  local function walk(position, from)
    local down_to = math.max(first, position - looks)
    while position > down_to do
      local start, members, early, late = math.max(down_to, position - STEP), {}, false, false
      for at = start, position - 1 do members[#members + 1] = whole(at) end
      for i, value in ipairs(call('HMGET', prefix .. 'turns', unpack(members))) do
        local time = time_of(value)
        if time then
          if time < from then early = true else late = true end
          if not seen[start + i - 1] then
            seen[start + i - 1] = true
            take(found, members[i], time, start + i - 1, value)
          end
        end
      end
      if early and not late then return end
      position = start
    end
  end

  if following - first <= looks then
    walk(following, -math.huge)
  else
    for _, span in ipairs(spans) do
      walk(position_of(span[2]), span[1])
      if #found >= most then break end
    end
  end
  local out = {}
  for i, one in ipairs(by_rank(found)) do
    if i > most then break end
    out[i] = '0\0300\030' .. one.member .. '\030' .. one.value
  end
  return out
end

return {now, impressions(), turns()}
