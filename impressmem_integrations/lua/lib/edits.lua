-- Changes of records that are there already, for the operations that do not write them anew. Needs lib/images.
-- Can fail: nothing.

-- The text of facts at the next revision, when they were touched, and their seq.
local function next_revision(text)
  local head, created, updated, touched, revision, seq, rest =
    string.match(text, '^(%S+ (%d+) (%-?%d+) (%-?%d+) )(%d+) (%d+)(.*)$')
  return head .. whole(revision + 1) .. ' ' .. seq .. rest, created + updated + touched, tonumber(seq)
end

-- The new image of a unit, of its own: what was loaded stays as it was.
local function own_image(unit)
  local image = unit.new
  if image == unit.old then
    image = {record = image.record, filing = image.filing, facts = image.facts, counted = image.counted,
             terms = image.terms, pin = image.pin, expires = image.expires}
    unit.new = image
  end
  return image
end

local function copy_facts(f)
  return {created = f.created, updated = f.updated, touched = f.touched, revision = f.revision, seq = f.seq,
          uses = f.uses, used = f.used, digest = f.digest, origin = f.origin}
end

-- Gives an image the facts.
function work.set_facts(image, facts)
  image.facts, image.counted = write_facts(facts), facts
end

-- The new image for an operation to change, and a copy of its facts. Put the latter back with set_facts.
function work.edit(unit)
  local image = own_image(unit)
  return image, copy_facts(work.facts_of(image))
end

-- One more revision; the record's times stay, since nobody said it anew. Returns the image and its seq.
function work.revise(unit)
  local image, seq, _ = own_image(unit), nil, nil
  image.facts, _, seq = next_revision(image.facts)
  image.counted = nil
  return image, seq
end
