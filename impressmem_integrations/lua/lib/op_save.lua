-- The operation `save`. Needs lib/images and lib/plan.
-- Can fail: WRONGTYPE, before the first write.

-- Adds what is known after the writes: another clue of the same content, and names that look like new ones.
local function finish_save(reply)
  local twin, alike = work.units[reply[2]].twin, {}
  if twin and not (work.units[twin] and not work.units[twin].new) then reply[5] = twin end
  local similar, gone = plan.similar, plan.gone
  local categories, labels = work.names_in(reply.filing)
  alike[1] = similar.clue[reply[2]] or nil
  for _, name in ipairs(categories) do
    local other = similar.category[name]
    if other and not gone.category[other] then alike[#alike + 1] = other end
  end
  for _, name in ipairs(labels) do
    local other = similar.label[name]
    if other and not gone.label[other] then alike[#alike + 1] = other end
  end
  reply[6] = alike
end

function operations.save(a)
  local clue = work.name_of('clue', a[1])
  local unit = work.load(clue)
  local before, lasting = unit.new, false
  local pin = a[4] == '1' or a[4] == '' and before and before.pin and true or false
  local status, facts = 'created', nil
  local filing = work.filing_of(a[2])
  if before then
    local had = work.facts_of(before)
    local same = before.record == a[3] and before.filing == filing and (before.pin and true or false) == pin
    status = same and 'unchanged' or 'changed'
    lasting = before.pin
    facts = {created = had.created, revision = had.revision + (same and 0 or 1), seq = had.seq, uses = had.uses,
             used = had.used, updated = now, touched = work.next_touch(), digest = a[6],
             origin = work.origins(had.origin, a[7])}
  else
    facts = {created = now, revision = 1, seq = work.next_seq(), uses = 0, used = 0,
             updated = now, touched = work.next_touch(), digest = a[6], origin = a[7]}
  end
  unit.why, unit.said = false, true
  unit.new = {record = a[3], filing = filing, facts = write_facts(facts), counted = facts,
              terms = a[8] ~= '' and a[8] or false, pin = pin and (lasting or whole(now)) or false,
              expires = work.expiry_for(pin, a[5])}
  return {'save', clue, status, whole(facts.revision), '', false, filing = filing}, finish_save
end
