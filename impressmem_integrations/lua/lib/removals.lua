-- Writes what goes with records, categories and labels that leave. Needs lib/plan, lib/names and lib/journal.
-- Can fail: nothing that lib/plan has not probed.

-- The functions are only made where something leaves: most saves remove nothing.
local function removals()
  local leaving = {}

  function leaving.unit(unit)
    local clue = unit.clue
    for _, name in ipairs({'impressions', 'filing', 'facts'}) do call('HDEL', prefix .. name, clue) end
    for _, name in ipairs({'clues', 'created', 'changed'}) do call('ZREM', prefix .. name, clue) end
    if unit.old and unit.old.pin then call('ZREM', prefix .. 'pins', clue) end
    if unit.weakens then call('ZREM', prefix .. 'strength', clue) end
    if unit.why == 'forget' then
      call('ZREM', prefix .. 'withdrawn', clue)
    else
      local noted = plan.noted.withdrawn
      noted[#noted + 1], noted[#noted + 2] = work.next_seq(), clue
    end
  end

  local function unspell(kind, name)
    if not any_spelling then return end
    local folded = call('HGET', prefix .. 'spelling', kind .. RECORD .. name)
    if folded then call('HDEL', prefix .. 'spelling', kind .. RECORD .. name, kind .. UNIT .. folded) end
  end

  -- A category or label that lost its last member: its hint goes to a new name that looks alike, if there is one.
  function leaving.name(kind, name)
    call('ZREM', prefix .. known_names[kind], name)
    local field = alike_field(kind, name)
    plan.read_hints('alike-names', {field})
    plan.unhint('alike-names', field, name)
    plan.gone[kind][name] = true
    unspell(kind, name)
    names.leave(kind, name)
  end

  -- Salted hashes of what was forgotten, so that a replay or an import of it can be refused.
  local function remember_forgotten(unit)
    local facts = unit.before
    if not facts then return end
    local entries = {now, redis.sha1hex(work.salt .. 'content' .. unit.clue .. UNIT .. facts.digest)}
    for origin in string.gmatch(facts.origin, '[^,-][^,]*') do
      entries[#entries + 1], entries[#entries + 2] = now, redis.sha1hex(work.salt .. 'source' .. origin)
    end
    call('ZADD', tag_prefix .. 'forgotten', unpack(entries))
    call('ZREMRANGEBYRANK', tag_prefix .. 'forgotten', 0, -20001)   -- the newest 20,000 are remembered
  end

  -- No rendered text may outlive what it shows; nobody may keep one that was read before.
  local function end_epochs()
    for _, profile in ipairs(call('ZRANGE', prefix .. 'snapshots', 0, -1)) do
      call('UNLINK', prefix .. 'snapshot:' .. profile)
    end
    call('UNLINK', prefix .. 'snapshots')
    call('HSET', meta_key, 'barrier', work.next_seq())
  end

  -- Removes entries that hold before-images of forgotten clues; returns how many.
  local function scrub(clues)
    local removed = 0
    for _, entry in ipairs(call('XRANGE', journal.key, '-', '+')) do
      local fields = fields_of(entry)
      for _, clue in ipairs(clues) do
        if string.find(fields.clues or '', UNIT .. clue .. UNIT, 1, true) then
          journal.remove(entry, fields)
          removed = removed + 1
          break
        end
      end
    end
    return removed
  end

  -- What is left to do after the indexes. Returns how many journal entries a forgetting removed.
  function leaving.finish(changed, forgotten)
    for _, unit in ipairs(changed) do
      if not unit.new then
        unspell('clue', unit.clue)
        if unit.why == 'forget' then remember_forgotten(unit) end
      end
    end
    if #forgotten == 0 then return 0 end
    local scrubbed = scrub(forgotten)
    end_epochs()
    return scrubbed
  end

  return leaving
end
