-- Changes posting lists that lib/postings has read, and writes each of them once. Needs lib/postings.
-- Can fail: OOM, when it is the first write.

-- Calls visit(term, weight) for the terms of a record or message: "<version>[RECORD<weight>UNIT<term>[UNIT<term>...]...]".
function postings.each_term(text, visit)
  for weight, terms in string.gmatch(text, '\30(%d+)([^\30]*)') do
    weight = tonumber(weight)
    for term in string.gmatch(terms, '[^\31]+') do visit(term, weight) end
  end
end

function postings.terms_of(text)
  local terms = {}
  postings.each_term(text, function(term) terms[#terms + 1] = term end)
  return terms
end

local function pack(document)
  local rest = math.floor(document / 256)
  local high = math.floor(rest / 256)
  return string.char(document % 256, rest % 256, high % 256, math.floor(high / 256) % 256)
end

-- Where the posting of a packed document begins in a text, or nil.
local function place_of(text, packed)
  local at = string.find(text, packed, 1, true)
  while at and at % 5 ~= 1 do at = string.find(text, packed, at + 1, true) end
  return at
end

-- Puts what was appended into the text. A batch appends to one list many times: a new text each time would be garbage
-- of the square of its length.
local function settle(list)
  local added = list.added
  if added then
    list.text = list.text .. (added[2] and table.concat(added) or added[1])
    list.added = nil
  end
end

-- The posting of a document and a weight as bytes; those of one document are asked for together.
local function posting_of(index, document, weight)
  if index.document ~= document then
    index.document, index.packed, index.weighed = document, pack(document), {}
  end
  local posting = index.weighed[weight]
  if not posting then
    posting = index.packed .. string.char(weight)
    index.weighed[weight] = posting
  end
  return posting
end

-- Gives a document a weight in the list of a term that was read; 0 takes it out. `had`: whether it stands there.
function postings.change(index, term, document, weight, had)
  local list = index.lists[term]
  if not list.to then
    list.to = list.form or 'few'
    index.changed[#index.changed + 1] = term
  end
  if list.form == 'set' then
    local wishes = list.wishes or {}
    wishes[document], list.wishes = weight, wishes
  else
    local posting = posting_of(index, document, weight)
    if had then
      settle(list)
      local text = list.text
      local at = place_of(text, index.packed)
      if at then list.text = string.sub(text, 1, at - 1) .. string.sub(text, at + 5) end
    end
    if weight > 0 then
      local added = list.added
      if added then added[#added + 1] = posting else list.added = {posting} end
    end
  end
  if not had then
    list.count = list.count + 1
  elseif weight == 0 then
    list.count = list.count - 1
  end
end

local function form_of(list, term)   -- where it belongs now
  local MOST_FEW, MOST_MANY, LEAST_SET, LONGEST_FIELD = 12, 500, 250, 64
  local count = list.count
  if count <= MOST_FEW then return count > 0 and (#term <= LONGEST_FIELD and 'few' or 'many') end
  return (count > MOST_MANY or list.form == 'set' and count > LEAST_SET) and 'set' or 'many'
end

-- Decides where changed lists go, and probes keys that were not read.
function postings.prepare(index)
  for i = 1, #index.changed do
    local term = index.changed[i]
    local list = index.lists[term]
    local to = form_of(list, term)
    list.to = to
    settle(list)
    if to ~= list.form then
      if to == 'set' then
        call('ZCARD', index.set .. term)
      elseif to == 'few' then
        call('HLEN', postings.bucket(index, term))
      end
    end
  end
end

-- Carries out what is wished of a sorted set: document -> weight, 0 to take it out.
local function write_set(key, wishes)
  local adds, removes = {}, {}
  for document, weight in pairs(wishes) do
    if weight > 0 then
      adds[#adds + 1], adds[#adds + 2] = weight * ABOVE_DOCUMENTS + document, document
    else
      removes[#removes + 1] = document
    end
  end
  if removes[1] then in_chunks('ZREM', key, removes) end
  if adds[1] then in_chunks('ZADD', key, adds) end
end

-- Turns a list into the other kind: packed text or sorted set.
local function convert(list, key)
  if list.form == 'set' then
    local held, parts = call('ZRANGE', key, 0, -1, 'WITHSCORES'), {}
    for i = 1, #held, 2 do
      parts[#parts + 1] = pack(tonumber(held[i])) .. string.char(math.floor(tonumber(held[i + 1]) / ABOVE_DOCUMENTS))
    end
    list.text = table.concat(parts)
    call('UNLINK', key)
  else
    local wishes = {}
    postings.unpack(list.text, function(document, weight) wishes[document] = weight end)
    write_set(key, wishes)
    list.text = ''
  end
end

-- Writes what was prepared.
function postings.write(index)
  local fields = {}
  for i = 1, #index.changed do
    local term = index.changed[i]
    local list = index.lists[term]
    local from, to = list.form, list.to
    if from == 'set' or to == 'set' then
      local key = index.set .. term
      if from == 'set' then write_set(key, list.wishes) end
      if from ~= to then convert(list, key) end
    end
    if from ~= to then
      if from == 'few' then
        call('HDEL', postings.bucket(index, term), term)
      elseif from and not (to == 'many' or to == 'set') then
        call('HDEL', index.many, term)
      end
    end
    if to == 'few' then
      call('HSET', postings.bucket(index, term), term, list.text)
    elseif to == 'many' or to == 'set' and from ~= 'set' then
      fields[#fields + 1], fields[#fields + 2] = term, list.text
    end
    list.form, list.to, list.wishes = to, false, nil
  end
  if fields[1] then in_chunks('HSET', index.many, fields) end
  index.changed = {}
end
