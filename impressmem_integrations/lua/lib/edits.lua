-- Changes of records that are there already, for the operations that do not write them anew. Needs lib/images.
-- Can fail: nothing.

local function copy_facts(f)
  return {created = f.created, updated = f.updated, touched = f.touched, revision = f.revision, seq = f.seq,
          uses = f.uses, used = f.used, digest = f.digest, origin = f.origin}
end

-- Gives an image the facts.
function work.set_facts(image, facts)
  image.facts, image.counted = write_facts(facts), facts
end

-- A copy of the new image for an operation to change, and a copy of its facts. Put the latter back with set_facts.
function work.edit(unit)
  local image = unit.new
  if image == unit.old then
    image = {record = image.record, filing = image.filing, facts = image.facts, terms = image.terms, pin = image.pin,
             expires = image.expires}
    unit.new = image
  end
  return image, copy_facts(work.facts_of(image))
end

-- One more revision; the record's times stay, since nobody said it anew. Returns the image and its facts.
function work.revise(unit)
  local image, facts = work.edit(unit)
  facts.revision = facts.revision + 1
  image.facts, image.counted = with_revision(image.facts, facts.revision), facts
  return image, facts
end
