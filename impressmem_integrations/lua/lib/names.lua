-- Categories and labels by the words of their names. Needs lib/plan.
-- `name-terms`: "<kind>UNIT<name>" -> its terms joined by UNIT.
-- `name-words`: members "<term>UNIT<number of terms>UNIT<kind>UNIT<name>", all with score 0, so that a word's names are
-- one range of it.
-- Can fail: WRONGTYPE, MOVED, ASK in names.probe; nothing after it.
local names = {terms = prefix .. 'name-terms', words = prefix .. 'name-words'}

-- Calls visit(member of name-words) for each term of a name.
local function each_word(kind, name, terms, visit)
  local _, count = string.gsub(terms, UNIT, '')
  local tail = UNIT .. whole(count + 1) .. UNIT .. kind .. UNIT .. name
  for term in string.gmatch(terms, '[^\31]+') do visit(term .. tail) end
end

function names.probe()
  if plan.removals or next(plan.created.category) or next(plan.created.label) then
    call('HLEN', names.terms)
    call('ZCARD', names.words)
  end
end

-- Enters the names that came into use.
function names.enter()
  if not (next(plan.created.category) or next(plan.created.label)) then return end
  for kind, folded, terms in string.gmatch(settings.names, '([^\29\31]+)\31([^\29\31]+)\31([^\29]*)') do
    local name = work.spelled[kind][folded] or folded
    if plan.created[kind][name] then
      call('HSET', names.terms, kind .. UNIT .. name, terms)
      each_word(kind, name, terms, function(member) call('ZADD', names.words, 0, member) end)
    end
  end
end

-- Takes out a name that lost its last member.
function names.leave(kind, name)
  local field = kind .. UNIT .. name
  local terms = call('HGET', names.terms, field)
  if not terms then return end
  call('HDEL', names.terms, field)
  each_word(kind, name, terms, function(member) call('ZREM', names.words, member) end)
end
