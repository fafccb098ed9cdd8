// The atomic Redis scripts, each on one key: the hash of a call, the hash of all instances, or an inbox.
//
// Fields of a call: `owner`, empty after a release or the end; `epoch`, from 1; `seq`, the owner's last save;
// `snapshot`, sealed, optional; `heard_at`, by the owner's clock; `from`, earlier owners that did not release the
// call and may not have been notified, separated by spaces; `ended`, set after the end.
import { createHash } from 'node:crypto';

/** A Lua script; after the first use the server knows it by its hash. */
export interface Script {
  readonly source: string;
  readonly sha1: string;
}

function script(source: string): Script {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}

/**
 * An owner that dies before its first save may have notified nobody, so the next owner notifies all earlier ones. Keeps the last ten ids.
 */
const UNNOTIFIED = `
local function unnotified(before, owner)
  local all = before or ''
  if owner and owner ~= '' then all = all == '' and owner or all .. ' ' .. owner end
  return string.sub(all, -369)
end
`;

/**
 * ARGV owner, may create, begins anew, dead epoch or empty, is forced, heard at, ttl in ms. Returns [mine, epoch, snapshot, from], [theirs,
 * owner, epoch], [unknown] or [ended].
 */
export const CLAIM = script(`${UNNOTIFIED}local key, me, may_create, is_anew = KEYS[1], ARGV[1], ARGV[2] == '1', ARGV[3] == '1'
local dead_epoch, is_forced, heard_at, ttl = tonumber(ARGV[4]), ARGV[5] == '1', ARGV[6], ARGV[7]
local call = redis.call('HMGET', key, 'owner', 'epoch', 'snapshot', 'from', 'ended')
local owner, epoch, snapshot, from, is_ended = call[1], tonumber(call[2]), call[3], call[4], call[5]
if not epoch and not may_create then return { 'unknown' } end
if is_ended and not is_anew then return { 'ended' } end
if epoch and owner ~= me then
  if owner ~= '' and epoch ~= dead_epoch and not is_forced then return { 'theirs', owner, epoch } end
  from = unnotified(from, owner)
  redis.call('HDEL', key, 'seq')
end
if owner ~= me then epoch = (epoch or 0) + 1 end
if is_anew then
  snapshot = false
  redis.call('HDEL', key, 'snapshot', 'ended')
end
redis.call('HSET', key, 'owner', me, 'epoch', epoch, 'heard_at', heard_at, 'from', from or '')
redis.call('PEXPIRE', key, ttl)
return { 'mine', epoch, snapshot or '', from or '' }
`);

/** ARGV owner, epoch, seq, snapshot or empty, heard at, is release, ttl. Returns [old], [fenced], or [saved, owner of an older epoch]. */
export const SAVE = script(`
local key, me, epoch, seq = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local snapshot, heard_at, is_release, ttl = ARGV[4], ARGV[5], ARGV[6] == '1', ARGV[7]
local call = redis.call('HMGET', key, 'owner', 'epoch', 'seq')
local owner, stored, last = call[1], tonumber(call[2]), tonumber(call[3] or 0)
if stored and (stored > epoch or (stored == epoch and owner ~= me)) then return { 'fenced' } end
if stored == epoch and last >= seq then return { 'old' } end
redis.call('HSET', key, 'owner', is_release and '' or me, 'epoch', epoch, 'seq', seq, 'heard_at', heard_at)
if snapshot ~= '' then redis.call('HSET', key, 'snapshot', snapshot) end
redis.call('HDEL', key, 'ended', 'from')
redis.call('PEXPIRE', key, ttl)
return { 'saved', stored and stored < epoch and owner ~= me and owner or '' }
`);

/** ARGV owner, seq, snapshot or empty, heard at, ttl. Returns [fenced] or [mine, epoch, from]. */
export const REGISTER =
  script(`${UNNOTIFIED}local key, me, seq, snapshot, heard_at, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local call = redis.call('HMGET', key, 'owner', 'epoch', 'heard_at', 'from')
local owner, epoch, last = call[1] or '', tonumber(call[2] or 0) + 1, tonumber(call[3] or 0)
-- A registration whose answer was lost is sent again.
local from = call[4] or ''
if owner == me then owner = '' end
if owner ~= '' and last >= tonumber(heard_at) then return { 'fenced' } end
from = unnotified(from, owner)
redis.call('DEL', key)
redis.call('HSET', key, 'owner', me, 'epoch', epoch, 'seq', seq, 'heard_at', heard_at, 'from', from)
if snapshot ~= '' then redis.call('HSET', key, 'snapshot', snapshot) end
redis.call('PEXPIRE', key, ttl)
return { 'mine', epoch, from }
`);

/** ARGV owner, epoch, ttl of the end mark. Returns 1, or 0 when another owner has the call. */
export const FORGET = script(`
local key, me, epoch, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local call = redis.call('HMGET', key, 'owner', 'epoch')
if call[2] and (call[1] ~= me or call[2] ~= epoch) then return 0 end
redis.call('DEL', key)
redis.call('HSET', key, 'owner', '', 'epoch', epoch, 'ended', 1)
redis.call('PEXPIRE', key, ttl)
return 1
`);

/** ARGV id, text, ttl. Returns [whether the id is new, [ids and texts, alternating]]. */
export const BEAT = script(`
local key, id, text, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local is_new = redis.call('HSET', key, id, text)
redis.call('PEXPIRE', key, ttl)
return { is_new, redis.call('HGETALL', key) }
`);

/** ARGV id, counter. Returns 1, or 0 when the counter of the entry has changed. */
export const REMOVE = script(`
local key, id, counter = KEYS[1], ARGV[1], ARGV[2]
local text = redis.call('HGET', key, id)
if not text or string.sub(text, 1, #counter + 1) ~= counter .. ' ' then return 0 end
return redis.call('HDEL', key, id)
`);

/** ARGV the notifications that were read. Removes them, and returns the rest of the inbox. */
export const READ_INBOX = script(`
for _, heard in ipairs(ARGV) do redis.call('SREM', KEYS[1], heard) end
return redis.call('SMEMBERS', KEYS[1])
`);

/** ARGV notification, ttl. Returns 1. */
export const NOTIFY = script(`
redis.call('SADD', KEYS[1], ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);
