-- Finds impressions by the words of their categories' and labels' names, and along the label graph. Needs lib/lookup.
-- A name that a question says whole counts like a word of that idf in a note of normal length, times `weight`; one that
-- it says in part counts by the square of that part. A label passes on the share `along` of that to the labels it
-- occurs with, in proportion to how often.
-- Can fail: WRONGTYPE. Reads only.

-- The names that the terms say most of: {part said, kind, name}.
local function named_by(terms)
  local MOST_NAMES, NAMES_PER_TERM = 8, 100
  local key, parts, list = prefix .. 'name-words', {}, {}
  for _, term in ipairs(call('ZCARD', key) > 0 and terms or {}) do
    local words = call('ZRANGEBYLEX', key, '[' .. term .. UNIT, '(' .. term .. ' ', 'LIMIT', 0, NAMES_PER_TERM)
    for _, word in ipairs(words) do
      local count, field = string.match(word, '\31(%d+)\31(.*)$')
      parts[field] = (parts[field] or 0) + 1 / tonumber(count)
    end
  end
  for field, part in pairs(parts) do list[#list + 1] = {part, string.match(field, '^([^\31]*)\31(.*)$')} end
  table.sort(list, function(a, b)
    if a[1] ~= b[1] then return a[1] > b[1] end
    return a[3] < b[3] or (a[3] == b[3] and a[2] < b[2])
  end)
  return {unpack(list, 1, math.min(MOST_NAMES, #list))}
end

-- Adds a score to the `most` members of a set that were touched last, but for those of `others`.
local function credit(scores, key, score, most, others, over, count_over)
  local left = most
  for _, member in ipairs(call('ZREVRANGE', key, 0, most + count_over - 1)) do
    if not over[member] then
      if not others[member] then scores[member] = (scores[member] or 0) + score end
      left = left - 1
      if left == 0 then return end
    end
  end
end

-- `over`, `count_over`: a set of members that are not looked at, and how many.
-- Returns member -> score by names, and member -> score along links, for members that no name found.
local function by_name(terms, size, weight, along, most, over, count_over)
  local LINKS_PER_LABEL = 5
  local scores, linked, passed, said = {}, {}, {}, {}
  local matched = named_by(terms)
  for _, name in ipairs(matched) do
    if name[2] == 'label' then said[name[3]] = true end
  end
  for _, name in ipairs(matched) do
    local part, kind, key = name[1] * name[1] * weight, name[2], prefix .. name[2] .. ':' .. name[3]
    local df = call('ZCARD', key)
    credit(scores, key, part * inverse_frequency(size, df), most, {}, over, count_over)
    if kind == 'label' then
      local links = call('ZREVRANGE', prefix .. 'links:' .. name[3], 0, LINKS_PER_LABEL - 1, 'WITHSCORES')
      for i = 1, #links, 2 do
        local other, share = links[i], part * along * tonumber(links[i + 1]) / df
        if not said[other] then passed[other] = math.max(passed[other] or 0, share) end
      end
    end
  end
  for label, share in pairs(passed) do
    local key = prefix .. 'label:' .. label
    credit(linked, key, share * inverse_frequency(size, call('ZCARD', key)), math.ceil(most / 2), scores, over, count_over)
  end
  return scores, linked
end
