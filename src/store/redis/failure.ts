// What can go wrong with a Redis server, in the one error that callers of the store see. Words of the server are not passed
// on: it repeats what it was sent when it does not understand it.
import { AppError } from '../../base/errors.ts';

/** Words of a server that serves, but not what we need of it: it is (or became) a replica, loads its data, or wants us to log in anew. */
const UNUSABLE = /\b(?:READONLY|LOADING|MASTERDOWN|NOAUTH)\b/u;
/** The word that an answer of a server begins with when it says no. */
const REFUSAL_WORD = /^[A-Z]+(?=\s|$)/u;

/** What words of the server and codes of the system mean, for whoever mends it. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['WRONGPASS', 'the user or the password is wrong (store.redis.user, store.redis.password)'],
  ['NOAUTH', 'it wants a user or a password (store.redis.user, store.redis.password)'],
  ['NOPERM', 'the user lacks a right (docs/operations.md lists them)'],
  ['OOM', 'it is out of memory and takes no writes'],
  ['MOVED', 'it belongs to a Redis Cluster, which is not supported (docs/operations.md)'],
  ['ECONNREFUSED', 'nothing takes connections there (store.redis.url, or what the sentinels name)'],
  ['ENOTFOUND', 'its host cannot be found (store.redis.url, or what the sentinels name)'],
  ['EAI_AGAIN', 'its host cannot be found (store.redis.url, or what the sentinels name)'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host (store.redis.url)'],
  ['CERT_HAS_EXPIRED', 'its certificate has ended'],
]);
/** Other codes of a certificate whose chain leads to no authority that is trusted. */
const UNTRUSTED = /CERT|SIGNATURE/u;

function meaningOf(reason: string): string {
  const meaning = MEANINGS.get(reason) ?? (UNTRUSTED.test(reason) ? 'its certificate is not trusted (store.redis.ca_file)' : undefined);
  return meaning === undefined ? '' : `: ${meaning}`;
}

/** The word of an answer that says no: its first one, or one of {@link isUnusable} that an older server puts further back. */
export function refusalWord(message: string): string {
  return UNUSABLE.exec(message)?.[0] ?? REFUSAL_WORD.exec(message)?.[0] ?? 'ERR';
}

/** True for a word after which another connection may lead to a server that can be used. */
export function isUnusable(word: string): boolean {
  return UNUSABLE.test(word);
}

/** The server said no. @param command - the name of what it was asked. */
export function refused(word: string, command?: string): AppError {
  const which = word === 'NOPERM' && command !== undefined ? `: +${command.toLowerCase()}` : '';
  return new AppError('store_unavailable', `the Redis server refused with ${word}${meaningOf(word)}${which}`, {
    details: { reason: word, isRefused: true, ...(command === undefined ? {} : { command }) },
  });
}

/** True when the server has answered, and said no. */
export function isRefused({ details }: AppError): boolean {
  return details['isRefused'] === true;
}

/** The server did not answer in time. */
export function silent(): AppError {
  return new AppError('store_unavailable', 'the Redis server did not answer in time', { details: { reason: 'timeout' } });
}

/** There is no connection now. */
export function away(): AppError {
  return new AppError('store_unavailable', 'there is no connection to the Redis server', { details: { reason: 'away' } });
}

/** The sentinels have answered, and none knows the primary by this name. */
export function unknownPrimary(name: string): AppError {
  return new AppError('store_unavailable', `the sentinels know no primary named ${name} (store.redis.sentinel_name)`, {
    details: { reason: 'unknown_primary', isRefused: true },
  });
}

/** No sentinel has named the primary. @param cause - what the first of them failed with. */
export function noPrimary(cause: AppError): AppError {
  const reason = reasonOf(cause);
  const isLogin = reason === 'WRONGPASS' || reason === 'NOAUTH' || reason === 'NOPERM';
  const setting = isLogin
    ? 'store.redis.sentinel_user, store.redis.sentinel_password'
    : UNTRUSTED.test(reason)
      ? 'store.redis.ca_file'
      : 'store.redis.sentinels';
  return new AppError('store_unavailable', `no sentinel names the primary: asking them failed with ${reason} (${setting})`, {
    details: { reason, isRefused: isRefused(cause) },
    cause,
  });
}

/** So much waits already that nothing more may. */
export function crowded(): AppError {
  return new AppError('store_unavailable', 'too much waits for the Redis server', { details: { reason: 'busy' } });
}

/** The connection broke, or did not come about. */
export function broken(cause: unknown): AppError {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  const reason = code ?? (cause instanceof Error ? cause.constructor.name : 'unknown');
  return new AppError('store_unavailable', `the connection to the Redis server failed with ${reason}${meaningOf(reason)}`, {
    details: { reason },
    cause,
  });
}

/** The word or code of a failure. */
export function reasonOf({ details }: AppError): string {
  return String(details['reason'] ?? 'unknown');
}
