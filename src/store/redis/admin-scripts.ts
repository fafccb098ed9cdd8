// The atomic operations of the shared administration as Redis scripts: taking, keeping and releasing the lease, writing while holding it,
// and reading changes. The texts are sealed by the caller.
import { redisScript } from './connection.ts';

/** KEYS lease. ARGV token, lease in ms, the token of a leader to depose or nothing. Returns [1], or [0, ms until the lease may be free]. */
export const TAKE = redisScript(`
local leader = redis.call('GET', KEYS[1])
if leader and leader ~= ARGV[3] then return {0, redis.call('PTTL', KEYS[1])} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1}
`);

/** KEYS lease. ARGV token, lease in ms. Returns 0 when the lease has expired or has another holder. */
export const KEEP = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** KEYS lease. ARGV token. Returns 1 when the token held the lease. */
export const GIVE_BACK = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

/**
 * Applies all changes or none, for the leader alone. Revisions are µs of the server's clock, and always increase, also when the server has
 * restarted with an older copy of the store.
 *
 * KEYS lease, texts, changes. ARGV token, most names, then name and text of each change; an empty text deletes. A deleted name keeps its
 * revision. Returns [1, the revision of the last change], [0] when the token does not hold the lease, [-1] for too many names.
 */
export const WRITE = redisScript(`
local lease, texts, changes = KEYS[1], KEYS[2], KEYS[3]
if redis.call('GET', lease) ~= ARGV[1] then return {0} end
local count = redis.call('ZCARD', changes)
for i = 3, #ARGV, 2 do
  if not redis.call('ZSCORE', changes, ARGV[i]) then count = count + 1 end
end
if count > tonumber(ARGV[2]) then return {-1} end
local time = redis.call('TIME')
local last = redis.call('ZREVRANGE', changes, 0, 0, 'WITHSCORES')
local revision = math.max(tonumber(time[1]) * 1000000 + tonumber(time[2]), tonumber(last[2] or '0'))
for i = 3, #ARGV, 2 do
  revision = revision + 1
  redis.call('ZADD', changes, string.format('%d', revision), ARGV[i])
  if ARGV[i + 1] ~= '' then redis.call('HSET', texts, ARGV[i], ARGV[i + 1])
  else redis.call('HDEL', texts, ARGV[i]) end
end
return {1, revision}
`);

/**
 * Reads the changes after a revision, oldest first.
 *
 * KEYS lease, texts, changes. ARGV revision, most names. Returns [token of the leader, number of names, revision of the last change, then
 * name, revision and text of each]; the text of a deleted name is empty.
 */
export const READ = redisScript(`
local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')
local answer = {redis.call('GET', KEYS[1]) or '', redis.call('ZCARD', KEYS[3]), tonumber(last[2] or '0')}
local changed = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
for i = 1, #changed, 2 do
  answer[#answer + 1] = changed[i]
  answer[#answer + 1] = tonumber(changed[i + 1])
  answer[#answer + 1] = redis.call('HGET', KEYS[2], changed[i]) or ''
end
return answer
`);

/** KEYS deliveries. Returns id and text of each delivery, as a flat list in every version of the protocol. */
export const WAITING = redisScript(`return redis.call('HGETALL', KEYS[1])`);
