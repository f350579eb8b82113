-- Looks terms up in one index: BM25 over posting lists, with the rows beside each hit. Needs lib/postings.
-- Math, with N rows and df of a term, both counted over all indexes that are searched, so that their scores can be
-- compared: idf = ln(1 + (N - df + 0.5) / (df + 0.5)); a row's score is the sum over the terms
-- of idf times the largest of its own weight and its neighbours' weights at their share. Terms are taken by rising df
-- while the summed df stays under the cap (at least one); the best rows are re-scored with the frequent terms.
-- Can fail: WRONGTYPE. Reads only.
local function inverse_frequency(size, frequency)
  return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
end

-- The terms that an index knows, rarest first. `weights`: document -> weight times idf, of all of them where `whole`.
local function known_terms(index, terms, idfs)
  local found = {}
  for i, term in ipairs(terms) do
    local list = index.words.lists[term]
    if list.count > 0 then
      found[#found + 1] = {term = term, list = list, df = list.count, idf = idfs[i], weights = {}, whole = false}
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

-- Reads the list of a term; of a sorted set at most `most` postings, those that weigh most.
local function read_list(index, term, most)
  local weights, idf = term.weights, term.idf
  if term.list.form == 'set' then
    local held = call('ZREVRANGE', index.words.set .. term.term, 0, most - 1, 'WITHSCORES')
    for i = 1, #held, 2 do weights[tonumber(held[i])] = tonumber(held[i + 1]) * idf end
  else
    postings.unpack(term.list.text, function(document, weight) weights[document] = weight * idf end)
  end
  term.whole = term.list.form ~= 'set' or term.df <= most
end

-- Reads what the terms weigh in the documents.
local function weigh(index, found, documents)
  if not documents[1] then return end
  for _, term in ipairs(found) do
    if not term.whole and term.list.form ~= 'set' then
      read_list(index, term)
    elseif not term.whole then
      local scores = in_chunks('ZMSCORE', index.words.set .. term.term, documents)
      for i, document in ipairs(documents) do
        if scores[i] then term.weights[document] = tonumber(scores[i]) * term.idf end
      end
    end
  end
end

-- The documents that weigh most by the first terms, best first; of equal ones the newer first.
local function best(documents, found, count, most)
  local sums = {}
  for _, document in ipairs(documents) do
    local sum = 0
    for t = 1, count do sum = sum + (found[t].weights[document] or 0) end
    sums[document] = sum
  end
  table.sort(documents, function(a, b) return sums[a] > sums[b] or (sums[a] == sums[b] and a > b) end)
  return {unpack(documents, 1, math.min(most, #documents))}
end

-- The documents of the rare terms, re-scored with the others where there are others.
local function best_documents(index, found, cap, most)
  local rare, documents, listed = rare_terms(found, cap), {}, {}
  for t = 1, rare do
    read_list(index, found[t], math.max(cap, most))
    for document in pairs(found[t].weights) do
      if not listed[document] then
        listed[document] = true
        documents[#documents + 1] = document
      end
    end
  end
  if rare == #found then return best(documents, found, rare, most) end
  documents = best(documents, found, rare, 3 * most)
  weigh(index, found, documents)
  return best(documents, found, #found, most)
end

-- index: `words` (lib/postings, the terms' lists read), `shares` (of the neighbours at distance 1, 2 ...), `gap` (ms beyond
-- which rows are no neighbours), `around(document, width)` -> position of the first of the documents around one, and
-- these in order with their members, flat; `times(members)` -> list.
-- Returns member -> score, member -> position, member -> whether it says any of the terms itself.
local function lookup(index, terms, idfs, cap, most)
  local found = known_terms(index, terms, idfs)
  local scores, positions, says = {}, {}, {}
  if not found[1] then return scores, positions, says end
  local width, count = #index.shares, #found
  local at, documents, members = {}, {}, {}   -- position -> number of the row; the rows
  for _, document in ipairs(best_documents(index, found, cap, most)) do
    local position, rows = index.around(document, width)
    for i = 1, #rows, 2 do
      if not at[position] then
        local row = #members + 1
        at[position], members[row], documents[row] = row, rows[i], tonumber(rows[i + 1])
        positions[rows[i]] = position
      end
      position = position + 1
    end
  end
  weigh(index, found, documents)

  local times = index.times(members)
  for i, member in ipairs(members) do
    local time, place, top = times[i], positions[member], {}
    for side = time and -width or 1, time and width or 0 do
      local row = at[place + side]
      if row and times[row] and math.abs(times[row] - time) <= index.gap then
        local share, document = side == 0 and 1 or index.shares[math.abs(side)], documents[row]
        for t = 1, count do
          local weight = found[t].weights[document]
          if weight then
            if side == 0 then says[member] = true end
            if weight * share > (top[t] or 0) then top[t] = weight * share end
          end
        end
      end
    end
    local score = 0
    for t = 1, count do score = score + (top[t] or 0) end
    if score > 0 then scores[member] = score end
  end
  return scores, positions, says
end
