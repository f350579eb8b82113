-- The account of model tokens of one scope: reserve before a call, settle after it.
-- KEYS[1]  meta key of the scope
-- ARGV[1]  day, e.g. 2026-05-24
-- ARGV[2]  tokens to reserve, or 0             ARGV[3]  most tokens of a day, or '' for no bound
-- ARGV[4]  tokens to release from what was reserved
-- ARGV[5..8]  input tokens, output tokens, calls and ms to add to the account
-- Reply: {1 if granted else 0, tokens of the day so far, what is reserved included}
-- A reservation whose process dies counts until the day is over, so the bound is never passed. What is settled after
-- midnight, or by a clock that is behind, leaves the newer day's count as it is.
-- Can fail: WRONGTYPE, OOM: before the first write.
--#include lib/scope
local key = tag_prefix .. 'usage'
local held = call('HMGET', key, 'day', 'tokens', 'reserved')
local tokens, reserved = tonumber(held[2] or 0), tonumber(held[3] or 0)
local wanted, day = tonumber(ARGV[2]), ARGV[1]
local late = held[1] and held[1] > day
if late then day = held[1] elseif held[1] ~= day then tokens, reserved = 0, 0 end
if wanted > 0 and ARGV[3] ~= '' and tokens + reserved + wanted > tonumber(ARGV[3]) then
  return {0, tokens + reserved}
end
if late then
  reserved = reserved + wanted
else
  reserved = math.max(0, reserved + wanted - tonumber(ARGV[4]))
  tokens = tokens + tonumber(ARGV[5]) + tonumber(ARGV[6])
end
call('HSET', key, 'day', day, 'tokens', whole(tokens), 'reserved', whole(reserved))
for i, field in ipairs({'input', 'output', 'calls', 'ms'}) do
  if tonumber(ARGV[4 + i]) ~= 0 then call('HINCRBY', key, field, ARGV[4 + i]) end
end
return {1, tokens + reserved}
