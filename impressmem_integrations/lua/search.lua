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
-- Reply: {now in ms, {row of an impression...}, {row of a turn...}}, each best first
--   row of an impression: score by words, 1 if it says one of the terms itself, score by names, by links, position, then
--   a row of lib/rows, joined by RECORD
--   row of a turn: score, 1 if it says one of the terms itself, position, value of `turns`, joined by RECORD
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
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

-- Members by falling score, the newer one first where equal; at most as many as are returned.
local function ranked(scores, positions)
  local members = {}
  for member in pairs(scores) do members[#members + 1] = member end
  table.sort(members, function(a, b)
    if scores[a] ~= scores[b] then return scores[a] > scores[b] end
    return positions[a] > positions[b]
  end)
  return {unpack(members, 1, math.min(most_rows, #members))}
end

local impressions = {
  keys = prefix .. 'term:', texts = prefix .. 'terms', order = prefix .. 'created', shares = numbers(ARGV[5]),
  gap = gap, size = call('HLEN', prefix .. 'impressions'),
  times = function(members)
    local times = in_chunks('HMGET', prefix .. 'facts', members)
    for i = 1, #members do times[i] = times[i] and created_in(times[i]) end
    return times
  end,
}

local held, said, speakers, named = {}, {}, {}, false
for word in string.gmatch(ARGV[11], '[^\31]+') do said[word] = true end
local turns = {
  keys = prefix .. 'turn-term:', texts = prefix .. 'turn-terms', shares = numbers(ARGV[6]), gap = gap,
  size = ARGV[4] == '1' and call('HLEN', prefix .. 'turns') or 0,
  times = function(members)
    local values, times = in_chunks('HMGET', prefix .. 'turns', members), {}
    for i, member in ipairs(members) do
      if values[i] then
        local time, speaker = string.match(values[i], '^(%d+)\31([^\31]*)')
        times[i], held[member] = tonumber(time), values[i]
        if speaker ~= '' then speakers[member] = speaker end
        named = named or said[speaker]
      end
    end
    return times
  end,
}

local idfs = {}
impressions.frequencies = frequencies_in(impressions, terms)
turns.frequencies = turns.size > 0 and frequencies_in(turns, terms) or {}
for i = 1, #terms do
  local df = impressions.frequencies[i] + (turns.frequencies[i] or 0)
  idfs[i] = inverse_frequency(impressions.size + turns.size, df)
end

local function search_impressions()
  local by_words, positions, known = lookup(impressions, terms, idfs, cap, most_hits)
  local by_names, by_links = by_name(terms, impressions.size, tonumber(ARGV[9]), tonumber(ARGV[10]), most_hits)
  local sums = {}
  for _, scores in ipairs({by_words, by_names, by_links}) do
    for member, score in pairs(scores) do
      sums[member] = (sums[member] or 0) + score
      positions[member] = positions[member] or call('ZRANK', impressions.order, member) or 0
    end
  end
  local out, found = {}, {}
  append_rows(out, ranked(sums, positions), now, function(_, clue) found[#found + 1] = clue end)
  for i, clue in ipairs(found) do
    out[i] = string.format('%.9g\30%d\30%.9g\30%.9g\30%d\30', by_words[clue] or 0, known[clue] and 1 or 0,
      by_names[clue] or 0, by_links[clue] or 0, positions[clue]) .. out[i]
  end
  return out
end

local function search_turns()
  local scores, positions, known = lookup(turns, terms, idfs, cap, most_hits)
  for member, score in pairs(scores) do
    local speaker = speakers[member]
    if named and speaker and not said[speaker] then scores[member] = score * other_speaker end
  end
  local out = {}
  for i, member in ipairs(ranked(scores, positions)) do
    out[i] = string.format('%.9g\30%d\30%d\30', scores[member], known[member] and 1 or 0, positions[member])
      .. held[member]
  end
  return out
end

return {now, search_impressions(), turns.size > 0 and search_turns() or {}}
