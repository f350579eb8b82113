-- The operation `save`. Needs lib/images.
-- Can fail: WRONGTYPE, before the first write.
function operations.save(a)
  local clue = name_of('clue', a[1])
  local unit = load(clue)
  local before = unit.new
  local pin = a[4] == '1'
  local image = {record = a[3], filing = filing_of(a[2]), terms = a[8] ~= '' and a[8] or false,
                 expires = expiry_for(pin, a[5])}
  local status = 'created'
  local facts
  if before then
    image.pin = pin and (before.pin or whole(now)) or false
    facts = read_facts(before.facts)
    local same = before.record == image.record and before.filing == image.filing
      and (before.pin and true or false) == pin
    status = same and 'unchanged' or 'changed'
    if not same then facts.revision = facts.revision + 1 end
  else
    image.pin = pin and whole(now) or false
    facts = {created = now, revision = 1, seq = next_seq(), uses = 0, used = 0}
  end
  facts.updated, facts.touched, facts.digest, facts.origin = now, next_touch(), a[6], a[7]
  image.facts = write_facts(facts)
  unit.new, unit.why = image, nil
  return function(similar)
    local alike = {}
    local categories, labels = read_filing(image.filing)
    local function look(kind, name)
      local other = similar[kind .. UNIT .. name]
      if other then alike[#alike + 1] = other end
    end
    look('clue', clue)
    for _, name in ipairs(categories) do look('category', name) end
    for _, name in ipairs(labels) do look('label', name) end
    local twin = unit.twin and not (units[unit.twin] and not units[unit.twin].new) and unit.twin or ''
    return {'save', clue, status, whole(facts.revision), twin, alike}
  end
end
