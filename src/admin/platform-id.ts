// Ids of the platform in their three spellings: an encoded address, an encoded bare value, or the bare value. Only values are compared,
// never encoded texts (H-04). The scheme of the addresses is a parameter.
import { AppError } from '../base/errors.ts';

/** The type of an id. */
export type PlatformIdType = 'ORGANIZATION' | 'APPLICATION' | 'WEBHOOK' | 'PEOPLE';

/** Longest id, characters. */
const MAX_CHARS = 512;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;
const CLIENT_ID = /^C[0-9a-fA-F]{8,128}$/u;
/** Values of the other types: one path segment that needs no escaping. */
const SEGMENT = /^[\w.~:-]{1,200}$/u;
/** Both base64 alphabets; padding is accepted although the platform sends none (H-01). */
const BASE64 = /^[\w+/-]+={0,2}$/u;

/**
 * The value of an id: the UUID of an organization in lower case, the client id of an application, or the last segment of another id.
 *
 * @param text - base64 or base64url of `<scheme><cluster>/<TYPE>/<value>` or of the bare value, or the bare value itself (H-01, H-02).
 * @param scheme - the beginning of addresses, from the profile, ending in `://`.
 * @throws AppError `bad_message` for any other text, also for an id of another type (H-03).
 */
export function decodeId(text: string, type: PlatformIdType, scheme: string): string {
  const value = text.length > MAX_CHARS ? undefined : valueOf(text, type, scheme);
  if (value === undefined) throw new AppError('bad_message', `this is no id of type ${type}`);
  return value;
}

/** As {@link decodeId}, but returns undefined instead of throwing. */
export function tryDecodeId(text: string, type: PlatformIdType, scheme: string): string | undefined {
  return text.length > MAX_CHARS ? undefined : valueOf(text, type, scheme);
}

/**
 * The encoded address of a value: base64url without padding.
 *
 * @param cluster - the name of the platform's cluster that has the id.
 * @throws AppError `bad_message` for a value that is invalid for this type.
 */
export function encodeId(value: string, type: PlatformIdType, scheme: string, cluster = 'us'): string {
  const normal = normalValue(value, type);
  if (normal === undefined) throw new AppError('bad_message', `this is no value of an id of type ${type}`);
  return Buffer.from(`${scheme}${cluster}/${type}/${normal}`).toString('base64url');
}

/** Whether both texts are ids of this type with the same value, in any spelling (H-04). */
export function isSameId(one: string, other: string, type: PlatformIdType, scheme: string): boolean {
  const value = tryDecodeId(one, type, scheme);
  return value !== undefined && value === tryDecodeId(other, type, scheme);
}

/**
 * The other spelling of an organization's id: the encoded address of a bare value, or the bare value of an encoded id (U-14).
 *
 * @throws AppError `bad_message` as {@link decodeId}.
 */
export function otherOrganizationForm(text: string, scheme: string): string {
  const value = decodeId(text, 'ORGANIZATION', scheme);
  return UUID.test(text) ? encodeId(value, 'ORGANIZATION', scheme) : value;
}

function valueOf(text: string, type: PlatformIdType, scheme: string): string | undefined {
  // A bare value may also be valid base64; only for these two types can both be distinguished.
  if (type === 'ORGANIZATION' || type === 'APPLICATION') {
    const bare = normalValue(text, type);
    if (bare !== undefined) return bare;
  } else if (UUID.test(text)) return text.toLowerCase();
  if (!BASE64.test(text)) return undefined;
  // The decoder accepts both alphabets.
  const decoded = Buffer.from(text, 'base64').toString('utf8');
  if (!decoded.startsWith(scheme)) return type === 'ORGANIZATION' && UUID.test(decoded) ? decoded.toLowerCase() : undefined;
  const segments = decoded.slice(scheme.length).split('/');
  const value = segments.at(-1);
  if (segments.length < 3 || segments.at(-2) !== type || value === undefined) return undefined;
  return normalValue(value, type);
}

function normalValue(value: string, type: PlatformIdType): string | undefined {
  if (type === 'ORGANIZATION') return UUID.test(value) ? value.toLowerCase() : undefined;
  if (type === 'APPLICATION') return CLIENT_ID.test(value) ? value : undefined;
  if (!SEGMENT.test(value)) return undefined;
  return UUID.test(value) ? value.toLowerCase() : value;
}
