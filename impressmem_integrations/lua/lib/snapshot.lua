-- A stored context. Needs lib/scope.
-- snapshot:<profile>: seq and epoch it was made at; core, the frozen text from the fence's opening on; kept, how many of
-- its bytes are shown; rest, what follows them; room, bytes of changed records that may come before a new epoch is due.
-- Opaque: included and about, what readers get beside the text; core_about and delta_about, what the next rendering
-- needs beside it.
-- Can fail: WRONGTYPE.
local snapshot_key = prefix .. 'snapshot:' .. ARGV[1]

-- {kind, epoch, text, included, about}
local function stored_context(kind)
  local held = call('HMGET', snapshot_key, 'epoch', 'core', 'kept', 'rest', 'included', 'about')
  return {kind, held[1], string.sub(held[2], 1, tonumber(held[3])) .. held[4], held[5], held[6]}
end
