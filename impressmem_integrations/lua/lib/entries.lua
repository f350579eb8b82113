-- Entries of a stream as a server replies with them: {id, {field, value, ...}}.
-- Can fail: nothing.
local function fields_of(entry)
  local flat, fields = entry[2], {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end
