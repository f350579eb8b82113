-- Changes posting lists that lib/postings has read, and writes each of them once. Needs lib/postings.
-- Can fail: OOM, when it is the first write.

-- Calls visit(term, weight) for the terms of a record or message: "<version>[RECORD<weight>UNIT<term>[UNIT<term>...]...]".
function postings.each_term(text, visit)
  for weight, terms in string.gmatch(text, '\30(%d+)([^\30]*)') do
    for term in string.gmatch(terms, '[^\31]+') do visit(term, tonumber(weight)) end
  end
end

function postings.terms_of(text)
  local terms = {}
  postings.each_term(text, function(term) terms[#terms + 1] = term end)
  return terms
end

local function pack(document)
  return string.char(document % 256, math.floor(document / 256) % 256, math.floor(document / 65536) % 256,
    math.floor(document / 16777216) % 256)
end

-- Where the posting of a packed document begins in a text, or nil.
local function place_of(text, packed)
  local at = string.find(text, packed, 1, true)
  while at and at % 5 ~= 1 do at = string.find(text, packed, at + 1, true) end
  return at
end

-- Gives a document a weight in the list of a term that was read; 0 takes it out. `had`: whether it stands there.
function postings.change(index, term, document, weight, had)
  local list = index.lists[term]
  list.dirty = true
  list.count = list.count + (weight > 0 and 1 or 0) - (had and 1 or 0)
  if list.form == 'set' then
    local ops = list.ops or {}
    ops[#ops + 1], ops[#ops + 2] = document, weight
    list.ops = ops
    return
  end
  local packed, text = pack(document), list.text
  local at = had and place_of(text, packed)
  if at then text = string.sub(text, 1, at - 1) .. string.sub(text, at + 5) end
  list.text = weight > 0 and text .. packed .. string.char(weight) or text
end

local function form_of(list)   -- where it belongs now
  local MOST_FEW, MOST_MANY, LEAST_SET, LONGEST_FIELD = 12, 500, 250, 64
  local count = list.count
  if count <= 0 then return false end
  if count > MOST_MANY or list.form == 'set' and count > LEAST_SET then return 'set' end
  return count <= MOST_FEW and #list.term <= LONGEST_FIELD and 'few' or 'many'
end

-- Decides where changed lists go, and probes keys that were not read.
function postings.prepare(index)
  for term, list in pairs(index.lists) do
    if list.dirty then
      list.to = form_of(list)
      if list.to ~= list.form then
        if list.to == 'set' then
          call('ZCARD', index.set .. term)
        elseif list.to == 'few' then
          call('HLEN', index.few .. postings.bucket(term))
        end
      end
    end
  end
end

function postings.score(document, weight) return whole(weight * ABOVE_DOCUMENTS + document) end

-- Carries out what was asked of a sorted set, the last wish for a document.
local function write_set(key, ops)
  if not ops[3] then
    if ops[2] > 0 then return call('ZADD', key, postings.score(ops[1], ops[2]), ops[1]) end
    return call('ZREM', key, ops[1])
  end
  local wishes, adds, removes = {}, {}, {}
  for i = 1, #ops, 2 do wishes[ops[i]] = ops[i + 1] end
  for document, weight in pairs(wishes) do
    if weight > 0 then
      adds[#adds + 1], adds[#adds + 2] = postings.score(document, weight), document
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
    for i = 1, #held, 2 do parts[#parts + 1] = pack(tonumber(held[i])) .. string.char(math.floor(tonumber(held[i + 1]) / ABOVE_DOCUMENTS)) end
    list.text = table.concat(parts)
    call('UNLINK', key)
  else
    local adds = {}
    postings.unpack(list.text, function(document, weight)
      adds[#adds + 1], adds[#adds + 2] = postings.score(document, weight), document
    end)
    in_chunks('ZADD', key, adds)
    list.text = ''
  end
end

-- Writes what was prepared.
function postings.write(index)
  for term, list in pairs(index.lists) do
    if list.dirty then
      local from, to, key = list.form, list.to, index.set .. term
      if from == 'set' then write_set(key, list.ops) end
      if (from == 'set') ~= (to == 'set') then convert(list, key) end
      if from == 'few' and to ~= 'few' then
        call('HDEL', index.few .. postings.bucket(term), term)
      elseif (from == 'many' or from == 'set') and not (to == 'many' or to == 'set') then
        call('HDEL', index.many, term)
      end
      if to == 'few' then
        call('HSET', index.few .. postings.bucket(term), term, list.text)
      elseif to == 'many' or to == 'set' and from ~= 'set' then
        call('HSET', index.many, term, list.text)
      end
      list.form, list.dirty, list.ops = to, false, false
    end
  end
end
