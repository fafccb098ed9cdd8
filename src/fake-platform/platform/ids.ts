// Ids on the wire (H-01 to H-03): base64url of an address `SCHEME://CLUSTER/TYPE/VALUE`. The fake platform has its own code for ids, so
// that it shares no mistake with the server.

export type IdType = 'ORGANIZATION' | 'APPLICATION' | 'WEBHOOK' | 'PEOPLE';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;
const CLIENT_ID = /^C[0-9a-f]+$/u;
const BASE64 = /^[\w+/-]+={0,2}$/u;
const MAX_CHARS = 500;

const VALUES: Readonly<Record<IdType, RegExp>> = { ORGANIZATION: UUID, APPLICATION: CLIENT_ID, WEBHOOK: UUID, PEOPLE: UUID };

/** True for a plain UUID in lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export class PlatformIds {
  readonly #scheme: string;
  readonly #cluster: string;

  /** @param scheme - ends in `://`. @param cluster - the part of the platform that issues the ids, such as `us`. */
  constructor(scheme: string, cluster: string) {
    this.#scheme = scheme;
    this.#cluster = cluster;
  }

  /** The id as on the wire: base64url without padding. */
  encode(type: IdType, value: string): string {
    return Buffer.from(`${this.#scheme}${this.#cluster}/${type}/${value}`).toString('base64url');
  }

  /** The value in an encoded id of this type, in any cluster; undefined when the text is no such id. */
  decode(type: IdType, encoded: string): string | undefined {
    const address = decoded(encoded);
    if (address?.startsWith(this.#scheme) !== true) return undefined;
    const [cluster, found, value, ...rest] = address.slice(this.#scheme.length).split('/');
    if (cluster === '' || found !== type || value === undefined || rest.length > 0) return undefined;
    return VALUES[type].test(value) ? value : undefined;
  }

  /** The UUID of an organization, from any observed form: encoded address, base64 of the UUID, plain UUID (H-02). */
  decodeOrganization(text: string): string | undefined {
    if (UUID.test(text)) return text;
    const bare = decoded(text);
    return bare !== undefined && UUID.test(bare) ? bare : this.decode('ORGANIZATION', text);
  }
}

function decoded(encoded: string): string | undefined {
  if (encoded.length > MAX_CHARS || !BASE64.test(encoded)) return undefined;
  // Node decodes both alphabets of base64, with and without padding.
  return Buffer.from(encoded, 'base64').toString();
}
