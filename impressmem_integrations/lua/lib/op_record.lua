-- The operations `pin`, `unpin`, `confirm` and `forget`. Needs lib/op_merge for `existing`.
-- Can fail: WRONGTYPE, before the first write.
local function set_pin(a, pin)
  local clue, unit = existing('clue', a[1])
  local change = (unit.new.pin and true or false) ~= pin
  if change then
    unit.new.pin = pin and whole(now) or false
    unit.new.expires = expiry_for(pin, '')
    bump_revision(unit)
  end
  return function() return {'pin', clue, change and '1' or '0'} end
end

function operations.pin(a) return set_pin(a, true) end
function operations.unpin(a) return set_pin(a, false) end

function operations.confirm(a)
  local clue, unit = existing('clue', a[1])
  local facts = read_facts(unit.new.facts)
  facts.uses, facts.used = facts.uses + 1, now
  unit.new.facts = write_facts(facts)
  return function() return {'confirm', clue, whole(facts.uses)} end
end

function operations.forget(a)
  local clue = name_of('clue', a[1])
  local unit = load(clue)
  local lived = unit.new and '1' or '0'
  drop(unit, 'forget')
  return function(_, scrubbed) return {'forget', clue, lived, whole(scrubbed)} end
end
