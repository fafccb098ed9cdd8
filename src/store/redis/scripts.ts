// What the server does in one step with the hash of a call. All moments are the server's own, so that the clocks of the
// machines do not matter.
//
// Fields of the hash: `version` and `writing`, which names the commit, missing before the first one; `record`, missing before the first claim; `spoken`, and `told_at`, when it was told;
// `holder`, who opened the call last; `opened`, how often it was opened; `owner` and `until` when the lease ends, both or none; `pending`, who committed a reply
// that nobody has handed over yet.
import { redisScript } from './connection.ts';

/** ms since the epoch. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Whether somebody else has a lease that has not ended. */
const IS_TAKEN = `
local function is_taken(owner, ends, me)
  return owner and owner ~= me and tonumber(ends) > now
end
`;

/**
 * me, lease, ttl, purpose, first record or nothing → which stream of the call this is, is ours, unheard of mine (1) or of
 * somebody else (2), record, spoken, age of spoken; no record for an unknown call.
 */
export const FIND = redisScript(`${NOW}${IS_TAKEN}
local key, me, lease, ttl, purpose, first = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local call = redis.call('HMGET', key, 'owner', 'until', 'pending', 'record', 'spoken', 'told_at')
-- Who waits for a call looks again and again.
if purpose == 'claim' and is_taken(call[1], call[2], me) then return { 0, 0 } end
local record, place, is_ours = call[4], 0, 0
if purpose ~= 'claim' then
  place = redis.call('HINCRBY', key, 'opened', 1)
  if record then redis.call('HSET', key, 'holder', me) end
end
if purpose ~= 'open' and not is_taken(call[1], call[2], me) then
  is_ours = 1
  redis.call('HSET', key, 'owner', me, 'until', now + lease)
  -- Streams that open elsewhere before the first commit find with whom they have to do.
  if not record and first ~= '' then redis.call('HSET', key, 'record', first, 'holder', me) end
end
redis.call('PEXPIRE', key, (record or (is_ours == 1 and first ~= '')) and ttl or lease)
return { place, is_ours, call[3] and (call[3] == me and 1 or 2) or 0, record, call[5], now - (call[6] or now) }
`);

/** me, lease, ttl → 1, or 0 when somebody else has the call. */
export const RENEW = redisScript(`${NOW}${IS_TAKEN}
local key, me, lease, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local call = redis.call('HMGET', key, 'owner', 'until', 'record')
if is_taken(call[1], call[2], me) then return 0 end
redis.call('HSET', key, 'owner', me, 'until', now + lease)
redis.call('PEXPIRE', key, call[3] and ttl or lease)
return 1
`);

/** me, lease, ttl, expected version, record, its version, is reply, name of the commit, streams so far → 1, or 0 when somebody else was faster. */
export const COMMIT = redisScript(`${NOW}${IS_TAKEN}
local key, me, lease, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local expected, record, version, is_reply, writing = ARGV[4], ARGV[5], ARGV[6], ARGV[7] == '1', ARGV[8]
local place = tonumber(ARGV[9])
local call = redis.call('HMGET', key, 'owner', 'until', 'version', 'writing', 'opened')
if is_taken(call[1], call[2], me) then return 0 end
-- Sent again, because the answer to the first time was lost.
if writing ~= '' and call[3] == version and call[4] == writing then return 1 end
-- A call without a version has no commit yet, or was lost with all else: whoever has it writes it again.
if call[3] and call[3] ~= expected then return 0 end
redis.call('HSET', key, 'record', record, 'version', version, 'writing', writing)
if place > tonumber(call[5] or 0) then redis.call('HSET', key, 'opened', place) end
redis.call('HSETNX', key, 'holder', me)
if is_reply then redis.call('HSET', key, 'pending', me) end
if is_reply or call[1] == me then redis.call('HSET', key, 'owner', me, 'until', now + lease) end
redis.call('PEXPIRE', key, ttl)
return 1
`);

/** me, ttl, is answered, spoken or nothing → 1, or 0 when the call is not ours. */
export const RELEASE = redisScript(`${NOW}
local key, me, ttl, is_answered, spoken = KEYS[1], ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4]
local call = redis.call('HMGET', key, 'owner', 'version')
if call[1] ~= me then return 0 end
redis.call('HDEL', key, 'owner', 'until')
if not call[2] then return 1 end
if is_answered then
  redis.call('HDEL', key, 'pending', 'spoken', 'told_at')
  if spoken ~= '' then redis.call('HSET', key, 'spoken', spoken, 'told_at', now) end
end
redis.call('PEXPIRE', key, ttl)
return 1
`);
