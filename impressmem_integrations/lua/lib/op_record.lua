-- The operations `pin`, `unpin`, `confirm` and `forget`. Needs lib/op_merge for `existing`, lib/op_remember.
-- Can fail: WRONGTYPE, before the first write.
local function set_pin(a, pin)
  local clue, unit = existing('clue', a[1])
  local change = (unit.new.pin and true or false) ~= pin
  if change then
    local image = work.revise(unit)
    image.pin = pin and whole(now) or false
    image.expires = work.expiry_for(pin, '')
  end
  return {'pin', clue, change and '1' or '0'}
end

function operations.pin(a) return set_pin(a, true) end
function operations.unpin(a) return set_pin(a, false) end

function operations.confirm(a)
  local clue, unit = existing('clue', a[1])
  local image, facts = work.edit(unit)
  facts.uses, facts.used = facts.uses + 1, now
  work.set_facts(image, facts)
  return {'confirm', clue, whole(facts.uses)}
end

function operations.forget(a)
  local clue = work.name_of('clue', a[1])
  local unit = work.load(clue)
  local lived = unit.new and '1' or '0'
  if unit.old and unit.old.facts then
    for origin in string.gmatch(work.facts_of(unit.old).origin, '[^,-][^,]*') do forget_turn(origin) end
  end
  unit.new, unit.why = false, 'forget'
  return {'forget', clue, lived, '0'}, function(reply, scrubbed) reply[4] = whole(scrubbed) end
end
