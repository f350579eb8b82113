-- Looks the terms of a question up: BM25 over sorted sets, with the rows beside each hit, for impressions and turns.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  index entries read per index before single members are looked up (the cap)
-- ARGV[2]  hits per index    ARGV[3]  rows returned per index    ARGV[4]  1 to search turns as well
-- ARGV[5]  shares of an impression's match that its neighbours at distance 1, 2 ... get, joined by blanks
-- ARGV[6]  the same for turns    ARGV[7]  ms beyond which rows are no neighbours
-- ARGV[8]  factor for a turn by another speaker than the question names
-- ARGV[9]  words of the question, casefolded, joined by UNIT
-- ARGV[10..] terms
-- Reply: {now in ms, impressions, turns}; each of the two {rows in the index, {df per term}, row...}
--   row of an impression: score, position, then a row of lib/rows
--   row of a turn: score, position, value of `turns`
-- Math, with N rows and df of a term: idf = ln(1 + (N - df + 0.5) / (df + 0.5)); a row's score is the sum over the terms
-- of idf times the largest of its own weight and its neighbours' weights at their share. Terms are taken by rising df
-- while the summed df stays under the cap (at least one); the best rows are re-scored with the frequent terms.
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
local cap, most_hits, most_rows = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local gap, other_speaker = tonumber(ARGV[7]), tonumber(ARGV[8])
local now = now_ms()
local question, terms = {}, {}
for word in string.gmatch(ARGV[9], '[^\31]+') do question[word] = true end
for i = 10, #ARGV do terms[#terms + 1] = ARGV[i] end

local function numbers(text)
  local list = {}
  for number in string.gmatch(text, '%S+') do list[#list + 1] = tonumber(number) end
  return list
end

-- index: `keys` prefix of the term sets, `size`, `order` (sorted set whose ranks are positions, nil where the members
-- themselves are), `shares`, `about(members)` -> times and speakers.
local function lookup(index)
  local frequencies, found = {}, {}
  for i, term in ipairs(terms) do
    frequencies[i] = call('ZCARD', index.keys .. term)
    if frequencies[i] > 0 then
      local idf = math.log(1 + (index.size - frequencies[i] + 0.5) / (frequencies[i] + 0.5))
      found[#found + 1] = {key = index.keys .. term, df = frequencies[i], idf = idf, term = term}
    end
  end
  local out = {index.size, frequencies}
  if #found == 0 then return out end
  table.sort(found, function(a, b) return a.df < b.df or (a.df == b.df and a.term < b.term) end)
  local rare, summed = 0, 0
  for i, term in ipairs(found) do
    if i > 1 and summed + term.df > cap then break end
    rare, summed = i, summed + term.df
  end
  local union
  if rare == 1 then   -- a frequent word alone may stand everywhere: its best members are enough
    union = call('ZREVRANGE', found[1].key, 0, 3 * most_hits - 1, 'WITHSCORES')
  else
    local command, weights = {rare}, {'WEIGHTS'}
    for i = 1, rare do
      command[i + 1] = found[i].key
      weights[i + 1] = string.format('%.17g', found[i].idf)
    end
    for _, weight in ipairs(weights) do command[#command + 1] = weight end
    command[#command + 1] = 'WITHSCORES'
    union = call('ZUNION', unpack(command))
  end
  local hits = {}
  for i = 1, #union, 2 do hits[#hits + 1] = {union[i], tonumber(union[i + 1])} end
  table.sort(hits, function(a, b) return a[2] > b[2] or (a[2] == b[2] and a[1] > b[1]) end)
  local members = {}
  for i = 1, math.min(#hits, rare < #found and 3 * most_hits or most_hits) do members[i] = hits[i][1] end

  local function weights_of(list)
    local all = {}
    for t, term in ipairs(found) do
      local scores = in_chunks('ZMSCORE', term.key, list)
      for i = 1, #list do
        if scores[i] then
          all[i] = all[i] or {}
          all[i][t] = tonumber(scores[i]) * term.idf
        end
      end
    end
    return all
  end

  if rare < #found then
    local plain, sums, rank = weights_of(members), {}, {}
    for i, member in ipairs(members) do
      sums[member] = 0
      for _, value in pairs(plain[i] or {}) do sums[member] = sums[member] + value end
      rank[i] = member
    end
    table.sort(rank, function(a, b) return sums[a] > sums[b] or (sums[a] == sums[b] and a > b) end)
    members = {unpack(rank, 1, most_hits)}
  end

  -- positions of the hits and of the rows beside them
  local width, at, rows, list = #index.shares, {}, {}, {}
  local function enter(member, position)
    if not rows[member] then
      rows[member] = {position = position}
      at[position] = member
      list[#list + 1] = member
    end
  end
  for _, member in ipairs(members) do
    local position = index.order and call('ZRANK', index.order, member) or tonumber(member)
    if position then
      if index.order then
        local first = math.max(0, position - width)
        for i, other in ipairs(call('ZRANGE', index.order, first, position + width)) do enter(other, first + i - 1) end
      else
        for other = position - width, position + width do enter(whole(other), other) end
      end
    end
  end
  local times, speakers = index.about(list)
  local own = weights_of(list)
  local best = {}
  for i, member in ipairs(list) do
    local values = own[i]
    if values and times[member] then
      for distance = 0, width do
        local share = distance == 0 and 1 or index.shares[distance]
        for side = -1, distance == 0 and -1 or 1, 2 do
          local other = at[rows[member].position + side * distance]
          if other and times[other] and math.abs(times[other] - times[member]) <= gap then
            local kept = best[other] or {}
            best[other] = kept
            for t, value in pairs(values) do
              if value * share > (kept[t] or 0) then kept[t] = value * share end
            end
          end
        end
      end
    end
  end
  local named = false
  for _, speaker in pairs(speakers) do named = named or question[speaker] end
  local ranked = {}
  for member, values in pairs(best) do
    local score = 0
    for t = 1, #found do score = score + (values[t] or 0) end
    if named and speakers[member] and not question[speakers[member]] then score = score * other_speaker end
    ranked[#ranked + 1] = {member = member, score = score, position = rows[member].position}
  end
  table.sort(ranked, function(a, b) return a.score > b.score or (a.score == b.score and a.position > b.position) end)
  for i = 1, math.min(#ranked, most_rows) do out[i + 2] = ranked[i] end
  return out
end

local impressions = lookup({
  keys = prefix .. 'term:', size = call('HLEN', prefix .. 'impressions'), order = prefix .. 'created',
  shares = numbers(ARGV[5]),
  about = function(list)
    local times = {}
    local facts = in_chunks('HMGET', prefix .. 'facts', list)
    for i, member in ipairs(list) do
      times[member] = facts[i] and tonumber(string.match(facts[i], '^(%d+)')) or nil
    end
    return times, {}
  end,
})
local found, clues = {impressions[1], impressions[2]}, {}
for i = 3, #impressions do clues[i - 2] = impressions[i].member end
local rows = {}
append_rows(rows, clues, now)
local by_clue = {}
for i = 1, #rows, ROW do by_clue[rows[i]] = i end
for i = 3, #impressions do
  local from = by_clue[impressions[i].member]
  if from then
    found[#found + 1] = string.format('%.9g', impressions[i].score)
    found[#found + 1] = impressions[i].position
    for n = from, from + ROW - 1 do found[#found + 1] = rows[n] end
  end
end

local heard = {0, {}}
if ARGV[4] == '1' then
  local values = {}
  local turns = lookup({
    keys = prefix .. 'turn-term:', size = call('HLEN', prefix .. 'turns'), shares = numbers(ARGV[6]),
    about = function(list)
      local times, speakers = {}, {}
      local held = in_chunks('HMGET', prefix .. 'turns', list)
      for i, member in ipairs(list) do
        if held[i] then
          local time, speaker = string.match(held[i], '^(%d+)\31([^\31]*)')
          times[member], values[member] = tonumber(time), held[i]
          if speaker ~= '' then speakers[member] = speaker end
        end
      end
      return times, speakers
    end,
  })
  heard = {turns[1], turns[2]}
  for i = 3, #turns do
    heard[#heard + 1] = string.format('%.9g', turns[i].score)
    heard[#heard + 1] = turns[i].position
    heard[#heard + 1] = values[turns[i].member]
  end
end
return {now, found, heard}
