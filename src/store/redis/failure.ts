// Maps failures of Redis to the one error that callers of the store see. Does not pass on the server's messages, because they repeat
// commands that the server does not understand.
import { AppError } from '../../base/errors.ts';

/** Error words of a server that runs but is unusable: it is or became a replica, is loading its data, or requires a new login. */
const UNUSABLE = /\b(?:READONLY|LOADING|MASTERDOWN|NOAUTH)\b/u;
/** The first word of an error answer. */
const REFUSAL_WORD = /^[A-Z]+(?=\s|$)/u;

/** The meaning of error words and system codes, for the operator. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['WRONGPASS', 'the user or the password is wrong (store.redis.user, store.redis.password)'],
  ['NOAUTH', 'it wants a user or a password (store.redis.user, store.redis.password)'],
  ['NOPERM', 'the user lacks a right (docs/shared-calls.md lists them)'],
  ['OOM', 'it is out of memory and takes no writes'],
  ['MOVED', 'it belongs to a Redis Cluster, which is not supported (docs/shared-calls.md)'],
  ['ECONNREFUSED', 'nothing takes connections there (store.redis.url, or what the sentinels name)'],
  ['ENOTFOUND', 'its host cannot be found (store.redis.url, or what the sentinels name)'],
  ['EAI_AGAIN', 'its host cannot be found (store.redis.url, or what the sentinels name)'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host (store.redis.url)'],
  ['CERT_HAS_EXPIRED', 'its certificate has ended'],
]);
/** Codes of other errors of a certificate without a trusted authority. */
const UNTRUSTED = /CERT|SIGNATURE/u;

function meaningOf(reason: string): string {
  const meaning = MEANINGS.get(reason) ?? (UNTRUSTED.test(reason) ? 'its certificate is not trusted (store.redis.ca_file)' : undefined);
  return meaning === undefined ? '' : `: ${meaning}`;
}

/** The word of an error answer: its first word, or one of {@link isUnusable} that an older server puts further back. */
export function refusalWord(message: string): string {
  return UNUSABLE.exec(message)?.[0] ?? REFUSAL_WORD.exec(message)?.[0] ?? 'ERR';
}

/** Whether another connection may lead to a usable server after this word. */
export function isUnusable(word: string): boolean {
  return UNUSABLE.test(word);
}

/** The server answered with an error. @param command - the name of the command, if known. */
export function refused(word: string, command?: string): AppError {
  const which = word === 'NOPERM' && command !== undefined ? `: +${command.toLowerCase()}` : '';
  return new AppError('store_unavailable', `the Redis server refused with ${word}${meaningOf(word)}${which}`, {
    details: { reason: word, isRefused: true, ...(command === undefined ? {} : { command }) },
  });
}

/** Whether the error is an error answer of the server. */
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

/** The sentinels have answered, but none knows a primary of this name. */
export function unknownPrimary(name: string): AppError {
  return new AppError('store_unavailable', `the sentinels know no primary named ${name} (store.redis.sentinel_name)`, {
    details: { reason: 'unknown_primary', isRefused: true },
  });
}

/** No sentinel has named the primary. @param cause - the error of the first one. */
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

/** Too many commands are pending. */
export function crowded(): AppError {
  return new AppError('store_unavailable', 'too much waits for the Redis server', { details: { reason: 'busy' } });
}

/** The connection broke, or could not be established. */
export function broken(cause: unknown): AppError {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  const reason = code ?? (cause instanceof Error ? cause.constructor.name : 'unknown');
  return new AppError('store_unavailable', `the connection to the Redis server failed with ${reason}${meaningOf(reason)}`, {
    details: { reason },
    cause,
  });
}

/** The first word of an error answer, or the code of another error. */
export function reasonOf({ details }: AppError): string {
  return String(details['reason'] ?? 'unknown');
}
