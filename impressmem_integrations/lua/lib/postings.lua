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
          lists = {}}
end

function postings.bucket(term)
  local sum = 0
  for i = 1, #term do sum = (sum * 31 + string.byte(term, i)) % 65521 end
  return whole(sum % 16)
end

-- Reads the lists of terms, which also probes every key they stand in. A list: term, form (false: none), count, text ('' of
-- a set); lib/posting_writes adds to, dirty and ops.
function postings.read(index, terms)
  local lists, missing = index.lists, {}
  for _, term in ipairs(terms) do
    if not lists[term] then
      lists[term] = {term = term, form = false, count = 0, text = '', to = false, dirty = false, ops = false}
      missing[#missing + 1] = term
    end
  end
  if not missing[1] then return end
  local texts = in_chunks('HMGET', index.many, missing)
  for i, term in ipairs(missing) do
    local list, text = lists[term], texts[i]
    if text == '' then
      list.form, list.count = 'set', call('ZCARD', index.set .. term)
    else
      list.form = text and 'many'
      if not text then
        text = call('HGET', index.few .. postings.bucket(term), term)
        list.form = text and 'few'
      end
      list.text = text or ''
      list.count = #list.text / 5
    end
  end
end

-- Calls visit(document, weight) for each posting of a packed text.
function postings.unpack(text, visit)
  for at = 1, #text, 5 do
    local a, b, c, d, weight = string.byte(text, at, at + 4)
    visit(a + 256 * (b + 256 * (c + 256 * d)), weight)
  end
end
