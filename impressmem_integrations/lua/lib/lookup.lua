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
    for i = 1, #held, 2 do weights[tonumber(held[i])] = math.floor(tonumber(held[i + 1]) / ABOVE_DOCUMENTS) * idf end
  else
    postings.unpack(term.list.text, function(document, weight) weights[document] = weight * idf end)
  end
  term.whole = term.list.form ~= 'set' or term.df <= most
end

-- Reads what the terms weigh in the documents.
local function weigh(index, found, documents)
  local texts = false
  for _, term in ipairs(found) do
    if not term.whole and term.list.form ~= 'set' then
      read_list(index, term)
    elseif not term.whole and documents[1] then
      if not texts then
        texts = {}
        for i, document in ipairs(documents) do texts[i] = whole(document) end
      end
      local scores = in_chunks('ZMSCORE', index.words.set .. term.term, texts)
      for i, document in ipairs(documents) do
        if scores[i] then term.weights[document] = math.floor(tonumber(scores[i]) / ABOVE_DOCUMENTS) * term.idf end
      end
    end
  end
end

-- The items that score most, in no order; of equal ones those of larger age. All three lists belong together.
local function strongest(items, scores, ages, most)
  if #items <= most then return items end
  local sorted, kept, equal, ages_of_equal = {}, {}, {}, {}
  for i, score in ipairs(scores) do sorted[i] = score end
  table.sort(sorted)   -- numbers are sorted many times sooner than by a function
  local least = sorted[#sorted - most + 1]
  for i, item in ipairs(items) do
    if scores[i] > least then
      kept[#kept + 1] = item
    elseif scores[i] == least then
      equal[ages[i]], ages_of_equal[#ages_of_equal + 1] = item, ages[i]
    end
  end
  table.sort(ages_of_equal)
  for i = #ages_of_equal, #ages_of_equal - (most - #kept) + 1, -1 do kept[#kept + 1] = equal[ages_of_equal[i]] end
  return kept
end

-- The documents that weigh most by the first terms.
local function heaviest(documents, found, count, most)
  local sums = {}
  for i, document in ipairs(documents) do
    local sum = 0
    for t = 1, count do sum = sum + (found[t].weights[document] or 0) end
    sums[i] = sum
  end
  return strongest(documents, sums, documents, most)
end

-- The documents of the rare terms, re-scored with the others where there are others; and how many say one of the terms,
-- at least.
local function best_documents(index, found, cap, most)
  local rare, documents, listed = rare_terms(found, cap), {}, {}
  local candidates = rare < #found and 3 * most or most
  for t = 1, rare do
    read_list(index, found[t], (found[t].df > cap and candidates or cap) + index.count_over)
    for document in pairs(found[t].weights) do
      if not listed[document] and not index.over[document] then
        listed[document] = true
        documents[#documents + 1] = document
      end
    end
  end
  local matching = math.max(#documents, found[#found].df - index.count_over)
  documents = heaviest(documents, found, rare, candidates)
  if rare == #found then return documents, matching end
  weigh(index, found, documents)
  return heaviest(documents, found, #found, most), matching
end

-- index: `over` (documents that are not looked at, a set), `count_over`, `words` (lib/postings, the terms' lists read), `shares` (of the neighbours at distance 1, 2 ...), `gap` (ms beyond
-- which rows are no neighbours), `around(document, width)` -> position of the first of the rows around one, and their
-- members in order; `read(members)` -> per member its time and its document, false where there is no row.
-- Returns member -> score, member -> position, member -> whether it says any of the terms itself; and how many rows do,
-- at least.
local function lookup(index, terms, idfs, cap, most)
  local found = known_terms(index, terms, idfs)
  local scores, positions, says = {}, {}, {}
  if not found[1] then return scores, positions, says, 0 end
  local width, count = #index.shares, #found
  local at, members = {}, {}   -- position -> number of the row; the rows
  local hits, matching = best_documents(index, found, cap, most)
  for _, document in ipairs(hits) do
    local first, around = index.around(document, width)
    for i, member in ipairs(around) do
      local position = first + i - 1
      if not at[position] then
        members[#members + 1] = member
        at[position], positions[member] = #members, position
      end
    end
  end
  local times, documents = index.read(members)
  local own, there = {}, {}   -- own: per row flat number of a term, its weight
  for row = 1, #members do
    if times[row] then there[#there + 1] = documents[row] end
  end
  weigh(index, found, there)
  for row, member in ipairs(members) do
    local flat, n, document = {}, 0, documents[row]
    for t = 1, times[row] and count or 0 do
      local weight = found[t].weights[document]
      if weight then
        flat[n + 1], flat[n + 2] = t, weight
        n = n + 2
      end
    end
    own[row], says[member] = flat, n > 0
  end
  for row, member in ipairs(members) do
    local time, place, top, score = times[row], positions[member], {}, 0
    for side = time and -width or 1, time and width or 0 do
      local other = at[place + side]
      if other and times[other] and math.abs(times[other] - time) <= index.gap then
        local share, flat = side == 0 and 1 or index.shares[math.abs(side)], own[other]
        for i = 1, #flat, 2 do
          local t, weight = flat[i], flat[i + 1] * share
          if weight > (top[t] or 0) then top[t] = weight end
        end
      end
    end
    for t = 1, count do score = score + (top[t] or 0) end
    if score > 0 then scores[member] = score end
  end
  return scores, positions, says, matching
end
