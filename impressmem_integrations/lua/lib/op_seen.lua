-- The operation `seen`: notes turns of a thread as distilled. Needs lib/images.
-- Can fail: WRONGTYPE, before the first write.
local SEEN_KEPT = 500

function operations.seen(a)
  local thread = a[1]
  local key = tag_prefix .. 'seen:' .. thread
  local last = call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2]
  local count = tonumber(last or 0) + #a - 1
  also[#also + 1] = {
    probe = function()
      call('ZCARD', tag_prefix .. 'threads')
      call('HLEN', tag_prefix .. 'failures')
    end,
    write = function()
      for i = 2, #a do
        local n = whole(count - #a + i)
        call('ZADD', key, n, n .. ' ' .. a[i])
      end
      call('ZREMRANGEBYRANK', key, 0, -SEEN_KEPT - 1)
      call('ZADD', tag_prefix .. 'threads', whole(now), thread)
      local failed = string.match(call('HGET', tag_prefix .. 'failures', thread) or '', '^(%S+) ')
      for i = 2, #a do
        if a[i] == failed then call('HDEL', tag_prefix .. 'failures', thread) end   -- another's success is not its own
      end
    end,
  }
  return {'seen', whole(count)}
end
