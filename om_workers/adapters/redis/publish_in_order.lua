-- Publishes events of one memory, each n once and in order, whoever publishes them.
-- KEYS[1]: the last n that went out. ARGV: channel, seconds to remember it, then n and payload of each event, in order.
-- Answers with the last n that is out. Below the first n given minus one, nothing was published: events are missing.
local last = tonumber(redis.call('GET', KEYS[1]))
local first = tonumber(ARGV[3])
if last == nil then
  -- Nothing is known of this memory: a short history is asked for whole, of a long one the rest is history.
  if first <= 100 then last = 0 else last = first - 1 end
end
if first > last + 1 then
  return last
end
for i = 3, #ARGV, 2 do
  local n = tonumber(ARGV[i])
  if n == last + 1 then
    redis.call('PUBLISH', ARGV[1], ARGV[i + 1])
    last = n
  end
end
redis.call('SET', KEYS[1], last, 'EX', ARGV[2])
return last
