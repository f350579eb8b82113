-- Plans that wait for a decision.
-- KEYS[1]  meta key of the scope
-- ARGV: none
-- Reply: {id, plan, id, plan, ...} in no order
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
return call('HGETALL', prefix .. 'plans')
