-- Names for the first arguments of every script that changes a scope; see transact.lua for their meaning.
-- Can fail: nothing.
local now = now_ms()
local settings = {
  layout = ARGV[1], max_impressions = tonumber(ARGV[2]), half_life = tonumber(ARGV[3]), ttl = ARGV[4],
  journal_bytes = tonumber(ARGV[5]), journal_entries = tonumber(ARGV[6]), journal_age = tonumber(ARGV[7]),
  salt = ARGV[8], source = ARGV[9], reason = ARGV[10], transaction = ARGV[11],
  names = ARGV[12],
}
-- name -> function(arguments): changes images, returns its reply and, where the reply is only known after the writes,
-- a function(reply, scrubbed) that completes it
local operations = {}
-- writes beside the records: {probe = function, write = function}
local also = {}
