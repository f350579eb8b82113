-- Looks the terms of a question up: in impressions by their words, their names and the label graph, and in turns.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  index entries read per index before single members are looked up (the cap)
-- ARGV[2]  hits per index    ARGV[3]  rows returned per index    ARGV[4]  1 to search turns as well
-- ARGV[5]  shares of an impression's match that its neighbours at distance 1, 2 ... get, joined by blanks
-- ARGV[6]  the same for turns    ARGV[7]  ms beyond which rows are no neighbours
-- ARGV[8]  factor for a turn by another speaker than the question names
-- ARGV[9]  weight of a name's words    ARGV[10] share of it that a label passes on to labels it occurs with
-- ARGV[11] words of the question, casefolded, joined by UNIT
-- ARGV[12..] terms
-- Reply: {now in ms, {row of an impression...}, {row of a turn...}, impressions and turns that say a term, at least}, the best
-- rows of each, in no order
--   row of an impression: score by words, 1 if it says one of the terms itself, score by names, by links, position, then
--   a row of lib/rows, joined by RECORD
--   row of a turn: score, 1 if it says one of the terms itself, position, value of `turns`, joined by RECORD
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
--#include lib/living
--#include lib/postings
--#include lib/lookup
--#include lib/by_name
local cap, most_hits, most_rows = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local gap, other_speaker = tonumber(ARGV[7]), tonumber(ARGV[8])
local now = now_ms()
local terms = {unpack(ARGV, 12)}

local function numbers(text)
  local list = {}
  for number in string.gmatch(text, '%S+') do list[#list + 1] = tonumber(number) end
  return list
end

local over, is_over = expired(now)   -- they count for how rare a term is, until they are removed, and are not found
local documents_over = {}
for _, document in ipairs(over[1] and in_chunks('ZMSCORE', prefix .. 'created', over) or {}) do
  if document then documents_over[tonumber(document)] = true end
end

-- The members that score most, at most as many as are returned; of equal ones the newer.
local function best(scores, positions)
  local members, values, places = {}, {}, {}
  for member, score in pairs(scores) do
    local n = #members + 1
    members[n], values[n], places[n] = member, score, positions[member]
  end
  return strongest(members, values, places, most_rows)
end

local impressions = {
  words = postings.index(''), shares = numbers(ARGV[5]), gap = gap, size = call('HLEN', prefix .. 'impressions'),
  over = documents_over, count_over = #over,
  around = function(document, width)
    local position = call('ZCOUNT', prefix .. 'created', '-inf', '(' .. whole(document))
    local first = math.max(0, position - width)
    return first, call('ZRANGE', prefix .. 'created', first, position + width)
  end,
  read = function(members)
    local times, documents = in_chunks('HMGET', prefix .. 'facts', members), {}
    for i = 1, #members do
      documents[i] = false
      if is_over[members[i]] then times[i] = false end
      if times[i] then times[i], documents[i] = created_in(times[i]) end
    end
    return times, documents
  end,
}

local held, said, speakers, named = {}, {}, {}, false
for word in string.gmatch(ARGV[11], '[^\31]+') do said[word] = true end
local turns = {
  over = {}, count_over = 0,
  words = postings.index('turn-'), shares = numbers(ARGV[6]), gap = gap,
  size = ARGV[4] == '1' and call('HLEN', prefix .. 'turns') or 0,
  around = function(document, width)
    local around = {}
    for position = document - width, document + width do around[#around + 1] = whole(position) end
    return document - width, around
  end,
  read = function(members)
    local values, times, documents = in_chunks('HMGET', prefix .. 'turns', members), {}, {}
    for i, member in ipairs(members) do
      times[i], documents[i] = false, tonumber(member)
      if values[i] then
        local time, speaker = string.match(values[i], '^(%d+)\31([^\31]*)')
        times[i], held[member] = tonumber(time), values[i]
        if speaker ~= '' then speakers[member] = speaker end
        named = named or said[speaker]
      end
    end
    return times, documents
  end,
}

local idfs = {}
postings.read(impressions.words, terms)
if turns.size > 0 then postings.read(turns.words, terms) end
for i, term in ipairs(terms) do
  local heard = turns.words.lists[term]
  local df = impressions.words.lists[term].count + (heard and heard.count or 0)
  idfs[i] = inverse_frequency(impressions.size + turns.size, df)
end

local function search_impressions()
  local by_words, positions, says, matching = lookup(impressions, terms, idfs, cap, most_hits)
  local by_names, by_links = by_name(terms, impressions.size, tonumber(ARGV[9]), tonumber(ARGV[10]), most_hits, is_over,
    #over)
  local sums = {}
  for _, scores in ipairs({by_words, by_names, by_links}) do
    for member, score in pairs(scores) do
      sums[member] = (sums[member] or 0) + score
      positions[member] = positions[member] or call('ZRANK', prefix .. 'created', member) or 0
    end
  end
  local out, found = {}, {}
  append_rows(out, best(sums, positions), now, function(_, clue) found[#found + 1] = clue end)
  for i, clue in ipairs(found) do
    out[i] = string.format('%.9g\30%d\30%.9g\30%.9g\30%d\30', by_words[clue] or 0, says[clue] and 1 or 0,
      by_names[clue] or 0, by_links[clue] or 0, positions[clue]) .. out[i]
  end
  return out, matching
end

local function search_turns()
  local scores, positions, says, matching = lookup(turns, terms, idfs, cap, most_hits)
  for member, score in pairs(scores) do
    local speaker = speakers[member]
    if named and speaker and not said[speaker] then scores[member] = score * other_speaker end
  end
  local out = {}
  for i, member in ipairs(best(scores, positions)) do
    out[i] = string.format('%.9g\30%d\30%d\30', scores[member], says[member] and 1 or 0, positions[member])
      .. held[member]
  end
  return out, matching
end

local notes, noted = search_impressions()
local messages, heard = {}, 0
if turns.size > 0 then messages, heard = search_turns() end
return {now, notes, messages, noted, heard}
