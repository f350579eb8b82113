-- The operation `remember`: keeps the messages of a turn as evidence, found by their words. Needs lib/images and
-- lib/posting_writes.
-- A message of `turns`: position -> time UNIT speaker UNIT turn's id UNIT thread UNIT role UNIT text.
-- `turn-terms`: position -> its terms as written. `turn-places`: digest of a turn's id -> its first and last position,
-- and when it was kept.
-- Can fail: WRONGTYPE, before the first write.
local turn_words = postings.index('turn-')

-- Changes the posting lists of a message's terms, in memory; `added`: whether they come or go.
local function change_words(position, terms, added)
  postings.read(turn_words, postings.terms_of(terms))
  postings.each_term(terms, function(term, weight)
    postings.change(turn_words, term, position, added and weight or 0, not added)
  end)
end

local function write_words()
  postings.prepare(turn_words)
  postings.write(turn_words)
end

local function forget_places(first, last)
  for position = first, last do
    local member = whole(position)
    local terms = call('HGET', prefix .. 'turn-terms', member)
    if terms then change_words(position, terms, false) end
    local value = call('HGET', prefix .. 'turns', member)
    call('HDEL', prefix .. 'turns', member)
    call('HDEL', prefix .. 'turn-terms', member)
    if value then call('HINCRBY', meta_key, 'turn_bytes', -#value) end
  end
end

-- The oldest turns leave while there are too many, too many bytes, or they are too old.
local function trim_turns(most, most_bytes, oldest)
  for _ = 1, 100 do
    local state = call('HMGET', meta_key, 'turn_first', 'turn_next', 'turn_bytes')
    local first, following = tonumber(state[1] or 1), tonumber(state[2] or 1)
    if first >= following then return end
    local value = call('HGET', prefix .. 'turns', whole(first))
    local id = value and string.match(value, '^%d+\31[^\31]*\31([^\31]*)\31')
    local place = id and call('HGET', prefix .. 'turn-places', id)
    local last, kept = first, 0
    if place then
      local _, to, at = string.match(place, '^(%d+) (%d+) (%d+)$')
      last, kept = tonumber(to), tonumber(at)
    end
    local fits = following - first <= most and tonumber(state[3] or 0) <= most_bytes
    if place and fits and kept >= oldest then return end
    if place then call('HDEL', prefix .. 'turn-places', id) end
    forget_places(first, last)
    call('HSET', meta_key, 'turn_first', whole(last + 1))
  end
end

-- remember id most bytes oldest value terms [value terms ...]; a turn that is kept already is left as it is.
function operations.remember(a)
  local id, most, bytes, oldest = a[1], tonumber(a[2]), tonumber(a[3]), tonumber(a[4])
  if call('HEXISTS', prefix .. 'turn-places', id) == 1 then return {'remember', '0'} end
  also[#also + 1] = {
    probe = function()
      call('HLEN', prefix .. 'turns')
      call('HLEN', prefix .. 'turn-terms')
      for i = 6, #a, 2 do postings.read(turn_words, postings.terms_of(a[i])) end
    end,
    write = function()
      local position = tonumber(call('HGET', meta_key, 'turn_next') or 1)
      local first = position
      for i = 5, #a, 2 do
        local member = whole(position)
        call('HSET', prefix .. 'turns', member, a[i])
        call('HSET', prefix .. 'turn-terms', member, a[i + 1])
        change_words(position, a[i + 1], true)
        call('HINCRBY', meta_key, 'turn_bytes', #a[i])
        position = position + 1
      end
      call('HSET', prefix .. 'turn-places', id, whole(first) .. ' ' .. whole(position - 1) .. ' ' .. whole(now))
      call('HSET', meta_key, 'turn_next', whole(position))
      trim_turns(most, bytes, oldest)
      write_words()
    end,
  }
  return {'remember', '1'}
end

-- With an impression the turn it came from goes.
local function forget_turn(id)
  local place = call('HGET', prefix .. 'turn-places', id)
  if not place then return end
  local first, last = string.match(place, '^(%d+) (%d+)')
  also[#also + 1] = {
    probe = function()
      call('HLEN', prefix .. 'turns')
      for position = tonumber(first), tonumber(last) do
        local terms = call('HGET', prefix .. 'turn-terms', whole(position))
        if terms then postings.read(turn_words, postings.terms_of(terms)) end
      end
    end,
    write = function()
      forget_places(tonumber(first), tonumber(last))
      write_words()
      call('HDEL', prefix .. 'turn-places', id)
    end,
  }
end
