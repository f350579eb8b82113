-- Posting lists: which documents say a term, and with what weight. Needs lib/scope.
-- A document is a whole number below 2^32: the seq of a record's creation, the position of a message. A posting is
-- five bytes: the document, lowest byte first (so that a search for one ends soon), and the weight, 1 to 125.
-- Where a term's list stands follows from its length, since a key or a hash field of its own costs a server far more
-- than a posting:
--   few    up to 12: field of one of 16 hashes `posting:<bucket>`, which stay compact (<= 64 bytes a value)
--   many   up to 500: field of the hash `postings`
--   set    more: a sorted set `term:<term>`, document -> weight * 2^32 + document, so that of equal weights the newest
--          is found first; its field of `postings` is empty. It is given up again at 250, so that a list at the border
--          does not go to and fro.
-- The index of turns has the same keys with `turn-` in front.
-- Can fail: WRONGTYPE. Reads only.
local postings = {}
local ABOVE_DOCUMENTS = 4294967296

function postings.index(kind)
  return {few = prefix .. kind .. 'posting:', many = prefix .. kind .. 'postings', set = prefix .. kind .. 'term:',
          buckets = {}, lists = {}, changed = {}, document = false, packed = false, weighed = false}
end

-- The key of the small hash for a term: told by its last three bytes.
function postings.bucket(index, term)
  local a, b, c = string.byte(term, -3, -1)
  local bucket = (a + 7 * (b or 0) + 3 * (c or 0)) % 16
  local key = index.buckets[bucket]
  if not key then
    key = index.few .. bucket
    index.buckets[bucket] = key
  end
  return key
end

-- Reads the lists of terms, which also probes every key they stand in. index.lists: term -> form (false: there is none),
-- count, text ('' of a set) and `to`, which lib/posting_writes uses.
function postings.read(index, terms)
  local lists, missing = index.lists, {}
  for i = 1, #terms do
    local term = terms[i]
    if not lists[term] then
      lists[term] = true
      missing[#missing + 1] = term
    end
  end
  if not missing[1] then return end
  local texts = in_chunks('HMGET', index.many, missing)
  for i = 1, #missing do
    local term, text, form, count = missing[i], texts[i], 'many', nil
    if text == '' then
      form, count = 'set', call('ZCARD', index.set .. term)
    elseif not text then
      text = call('HGET', postings.bucket(index, term), term) or ''
      form = text ~= '' and 'few'
    end
    lists[term] = {form = form, count = count or #text / 5, text = text, to = false}
  end
end

-- Calls visit(document, weight) for each posting of a packed text.
function postings.unpack(text, visit)
  for at = 1, #text, 5 do
    local a, b, c, d, weight = string.byte(text, at, at + 4)
    visit(a + 256 * (b + 256 * (c + 256 * d)), weight)
  end
end
