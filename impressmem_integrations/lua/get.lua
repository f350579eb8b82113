-- Reads named records.
-- KEYS[1]  meta key of the scope
-- ARGV     clues, "<folded>" or "<folded>RECORD<spelling>"
-- Reply: rows (lib/rows) one after the other, in the order asked; missing ones are left out.
-- Can fail: WRONGTYPE. Reads only.
--#include lib/scope
--#include lib/rows
local out, clues = {}, {}
for i = 1, #ARGV do clues[i] = resolve('clue', ARGV[i]) end
append_rows(out, clues, now_ms())
return out
