// The steps on the server that must not be torn apart, as scripts: taking and giving back the ownership, writing under it,
// reading what has changed. Which keys they get is said beside each; the texts are sealed before they come here.
import { redisScript } from './connection.ts';

/**
 * Takes the ownership when nobody has it. Each owner gets a token with a number that no owner before had, and the last token
 * given stays written down: that is the fence. Beside it stands how much the owner knew: less than others, when the server has lost
 * something.
 *
 * KEYS owner, state. ARGV id, lease in ms, the revision that the owner knows, the token of somebody whose ownership does not count
 * or nothing. Gives [1, token], or [0, ms until it may be free].
 */
export const TAKE = redisScript(`
if redis.call('EXISTS', KEYS[1]) == 1 and (ARGV[4] == '' or redis.call('HGET', KEYS[2], 'last') ~= ARGV[4]) then
  return {0, redis.call('PTTL', KEYS[1])}
end
local from = math.max(tonumber(redis.call('HGET', KEYS[2], 'revision') or '0'), tonumber(ARGV[3]))
local token = string.format('%d', redis.call('HINCRBY', KEYS[2], 'fence', 1)) .. '/' .. ARGV[1]
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
redis.call('HSET', KEYS[2], 'last', token, 'from', string.format('%d', from))
return {1, token}
`);

/** KEYS owner. Gives 1 when somebody has it. */
export const IS_OWNED = redisScript(`return redis.call('EXISTS', KEYS[1])`);

/** KEYS owner. ARGV token, lease in ms. Gives 0 when it has ended or is another's. */
export const KEEP = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** KEYS owner. ARGV token, channel, message. Gives 1 when it was ours; everybody hears that it is free. */
export const GIVE_BACK = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
`);

/**
 * Makes all changes or none. Refused for a token that is not the last one given: somebody else renews by now.
 *
 * KEYS texts, changes, gone, state. ARGV token, most names, most names that are gone, the revision that the owner knows, an
 * epoch, its use, channel, message, then name and text of each change; an empty text takes the name away. A server that knows
 * less than its owner has lost something: it has no epoch then, until the owner says that it has everything again ('part' and
 * 'last' of that). Gives [1, epoch, the revision before, the revision after], [0] when refused, [-1] when there would be too many
 * names.
 */
export const WRITE = redisScript(`
local texts, changes, gone, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if redis.call('HGET', state, 'last') ~= ARGV[1] then return {0} end
local more = 0
for i = 9, #ARGV, 2 do
  if ARGV[i + 1] ~= '' and redis.call('HEXISTS', texts, ARGV[i]) == 0 then more = more + 1 end
end
if more > 0 and redis.call('HLEN', texts) + more > tonumber(ARGV[2]) then return {-1} end
local before = tonumber(redis.call('HGET', state, 'revision') or '0')
if ARGV[6] == 'last' then redis.call('HSET', state, 'epoch', ARGV[5])
elseif ARGV[6] == 'part' or before < tonumber(ARGV[4]) then redis.call('HDEL', state, 'epoch')
else redis.call('HSETNX', state, 'epoch', ARGV[5]) end
local revision = math.max(before, tonumber(ARGV[4]))
for i = 9, #ARGV, 2 do
  local name, text = ARGV[i], ARGV[i + 1]
  revision = revision + 1
  local score = string.format('%d', revision)
  redis.call('ZADD', changes, score, name)
  if text ~= '' then
    redis.call('HSET', texts, name, text)
    redis.call('ZREM', gone, name)
  else
    redis.call('HDEL', texts, name)
    redis.call('ZADD', gone, score, name)
  end
end
while redis.call('ZCARD', gone) > tonumber(ARGV[3]) do
  local oldest = redis.call('ZPOPMIN', gone)
  redis.call('ZREM', changes, oldest[1])
  redis.call('HSET', state, 'floor', oldest[2])
end
redis.call('HSET', state, 'revision', string.format('%d', revision))
redis.call('PUBLISH', ARGV[7], ARGV[8])
return {1, redis.call('HGET', state, 'epoch') or '', before, revision}
`);

/**
 * What has changed since a revision, the oldest change first.
 *
 * KEYS texts, changes, state. ARGV revision, most names. Gives [epoch, revision, floor, last token, the revision that its
 * owner knew when it began or -1, then name, its revision and its text of each]; an empty text is of a name that is gone, and names
 * that went before the floor are not told any more.
 */
export const CHANGES = redisScript(`
local state = redis.call('HMGET', KEYS[3], 'epoch', 'revision', 'floor', 'last', 'from')
local answer = {state[1] or '', tonumber(state[2] or '0'), tonumber(state[3] or '0'), state[4] or '', tonumber(state[5] or '-1')}
local changed = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
for i = 1, #changed, 2 do
  answer[#answer + 1] = changed[i]
  answer[#answer + 1] = tonumber(changed[i + 1])
  answer[#answer + 1] = redis.call('HGET', KEYS[1], changed[i]) or ''
end
return answer
`);

/** KEYS deliveries. ARGV id, text, most of them, channel, message. Gives 1, 2 when it waits already, 0 when there are too many. */
export const PUT_DELIVERY = redisScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 2 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
`);

/** KEYS deliveries. Gives id and text of each. */
export const WAITING_DELIVERIES = redisScript(`return redis.call('HGETALL', KEYS[1])`);

/** KEYS deliveries. ARGV id. */
export const REMOVE_DELIVERY = redisScript(`return redis.call('HDEL', KEYS[1], ARGV[1])`);
