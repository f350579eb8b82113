-- The operation `put` (import). Needs lib/images.
-- Can fail: WRONGTYPE, before the first write.
function operations.put(a)
  local clue = work.name_of('clue', a[1])
  local unit = work.load(clue)
  local before = unit.new
  local facts = read_facts(a[4])
  local erased = call('ZSCORE', tag_prefix .. 'forgotten',
    redis.sha1hex(work.salt .. 'content' .. clue .. UNIT .. facts.digest))
  local status
  if erased and tonumber(erased) >= facts.updated then
    status = 'forgotten'
  elseif before and work.facts_of(before).updated > facts.updated then
    status = 'kept'
  else
    local filing = work.filing_of(a[2])
    local pin = a[5] ~= '' and a[5] or false
    if before then
      local had = work.facts_of(before)
      local same = before.record == a[3] and before.filing == filing and before.pin == pin
      facts.seq, facts.revision = had.seq, math.max(facts.revision, had.revision + (same and 0 or 1))
    elseif facts.seq == 0 then
      facts.seq = work.next_seq()
    end
    work.clock = math.max(work.clock, facts.touched)
    local image = {record = a[3], filing = filing, facts = write_facts(facts), pin = pin,
                   expires = a[5] == '' and a[6] ~= '' and a[6] or false, terms = a[7] ~= '' and a[7] or false}
    status = not before and 'created' or 'changed'
    if before and before.record == image.record and before.filing == image.filing and before.facts == image.facts
        and before.pin == image.pin and before.expires == image.expires then
      status = 'unchanged'
    else
      unit.new, unit.why = image, false
    end
  end
  return {'put', clue, status}
end
