-- Looks terms up in one index: BM25 over sorted sets, with the rows beside each hit. Needs lib/scope.
-- Math, with N rows and df of a term, both counted over all indexes that are searched, so that their scores can be
-- compared: idf = ln(1 + (N - df + 0.5) / (df + 0.5)); a row's score is the sum over the terms
-- of idf times the largest of its own weight and its neighbours' weights at their share. Terms are taken by rising df
-- while the summed df stays under the cap (at least one); the best rows are re-scored with the frequent terms.
-- Can fail: WRONGTYPE. Reads only.
local function inverse_frequency(size, frequency)
  return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
end

-- How often each term stands in an index.
local function frequencies_in(index, terms)
  local frequencies = {}
  for i, term in ipairs(terms) do frequencies[i] = call('ZCARD', index.keys .. term) end
  return frequencies
end

-- Terms that the index knows, rarest first.
local function known_terms(index, terms, idfs)
  local found = {}
  for i, term in ipairs(terms) do
    local df = index.frequencies[i]
    if df > 0 then
      found[#found + 1] = {key = index.keys .. term, df = df, idf = idfs[i], term = term, mark = RECORD .. term .. UNIT}
    end
  end
  table.sort(found, function(a, b) return a.df < b.df or (a.df == b.df and a.term < b.term) end)
  return found
end

-- How many of the terms are read whole.
local function rare_terms(found, cap)
  local summed = 0
  for i, term in ipairs(found) do
    if i > 1 and summed + term.df > cap then return i - 1 end
    summed = summed + term.df
  end
  return #found
end

-- The best rows by the rare terms, best first; equal ones by falling member.
local function best_by_rare(found, rare, most)
  if rare == 1 then   -- a frequent word alone may stand everywhere: its best members are enough
    return call('ZREVRANGE', found[1].key, 0, most - 1)
  end
  local command, weights = {'ZUNION', rare}, {'WEIGHTS'}
  for i = 1, rare do
    command[i + 2] = found[i].key
    weights[i + 1] = string.format('%.17g', found[i].idf)
  end
  for _, weight in ipairs(weights) do command[#command + 1] = weight end
  local union, members = call(unpack(command)), {}   -- ordered by rising score
  for i = #union, math.max(1, #union - most + 1), -1 do members[#members + 1] = union[i] end
  return members
end

-- Adds the weighted terms of members that are not in `known` yet: member -> number of the term in `found` -> weight
-- times idf, or false where none is there. One look at a row's terms is cheaper than one look per term.
local function weigh(index, found, members, known)
  local missing = {}
  for _, member in ipairs(members) do
    if known[member] == nil then missing[#missing + 1] = member end
  end
  if not missing[1] then return end
  local texts = in_chunks('HMGET', index.texts, missing)
  for i, member in ipairs(missing) do
    local text, weights = texts[i], false
    if text then
      for t = 1, #found do
        local _, stop = string.find(text, found[t].mark, 1, true)
        if stop then
          weights = weights or {}
          weights[t] = tonumber(string.match(text, '^%d+', stop + 1)) * found[t].idf
        end
      end
    end
    known[member] = weights
  end
end

-- Orders members by what they have of all terms, and keeps the first.
local function rescored(members, count, known, most)
  local sums = {}
  for _, member in ipairs(members) do
    local sum, weights = 0, known[member]
    for t = 1, weights and count or 0 do sum = sum + (weights[t] or 0) end
    sums[member] = sum
  end
  table.sort(members, function(a, b) return sums[a] > sums[b] or (sums[a] == sums[b] and a > b) end)
  return {unpack(members, 1, math.min(most, #members))}
end

-- index: `keys` (prefix of the term sets), `texts` (hash: member -> its terms as written), `frequencies`, `order` (sorted set
-- whose ranks are positions; nil where the members themselves are), `shares` (of the neighbours at distance 1, 2 ...),
-- `gap` (ms beyond which rows are no neighbours), `times(members)` -> list.
-- Returns member -> score, member -> position, member -> whether it says any of the terms itself.
local function lookup(index, terms, idfs, cap, most)
  local found = known_terms(index, terms, idfs)
  local scores, positions = {}, {}
  if not found[1] then return scores, positions, {} end
  local rare, known, width = rare_terms(found, cap), {}, #index.shares
  local members = best_by_rare(found, rare, rare < #found and 3 * most or most)
  if rare < #found then
    weigh(index, found, members, known)
    members = rescored(members, #found, known, most)
  end

  local at, rows = {}, {}   -- position -> number of the row; the rows' members
  local function enter(member, position)
    if not at[position] then
      rows[#rows + 1] = member
      at[position], positions[member] = #rows, position
    end
  end
  for _, member in ipairs(members) do
    local position = index.order and call('ZRANK', index.order, member) or tonumber(member)
    if position and index.order then
      local first = math.max(0, position - width)
      for i, other in ipairs(call('ZRANGE', index.order, first, position + width)) do enter(other, first + i - 1) end
    elseif position then
      for other = position - width, position + width do enter(whole(other), other) end
    end
  end
  weigh(index, found, rows, known)

  local times, count = index.times(rows), #found
  for i, member in ipairs(rows) do
    local time, best, place = times[i], {}, positions[member]
    if time then
      for side = -width, width do
        local row = at[place + side]
        local weights = row and known[rows[row]]
        if weights and times[row] and math.abs(times[row] - time) <= index.gap then
          local share = side == 0 and 1 or index.shares[math.abs(side)]
          for t = 1, count do
            local weight = weights[t]
            if weight and weight * share > (best[t] or 0) then best[t] = weight * share end
          end
        end
      end
      local score = 0
      for t = 1, count do score = score + (best[t] or 0) end
      if score > 0 then scores[member] = score end
    end
  end
  return scores, positions, known
end
