// How a delivery is signed (H-10, H-11): over the very bytes that are sent, in the formats that were seen.
import { createHmac, randomBytes } from 'node:crypto';
import type { DeliverySwitches } from './switches.ts';

/** Headers of a signed body; none when the webhook has no secret. */
export function signatureHeaders(
  body: string,
  secret: string | undefined,
  names: { readonly sha1SignatureHeader: string; readonly sha2SignatureHeader: string },
  switches: Pick<DeliverySwitches, 'signature' | 'strongSignature'>,
): Readonly<Record<string, string>> {
  if (secret === undefined || switches.signature === 'none') return {};
  const key = switches.signature === 'foreign' ? randomBytes(32).toString('hex') : secret;
  const hex = (algorithm: string, by = key): string => createHmac(algorithm, by).update(body).digest('hex');
  const weak = { [names.sha1SignatureHeader]: hex('sha1') };
  if (switches.strongSignature === 'none') return weak;
  const strong = {
    pair: `SHA-256=${hex('sha256')},SHA-512=${hex('sha512')}`,
    sha256: `sha256=${hex('sha256')}`,
    hex: hex('sha256'),
    wrong: `SHA-256=${hex('sha256', 'another')},SHA-512=${hex('sha512', 'another')}`,
    garbage: 'v1;none',
  }[switches.strongSignature];
  return { ...weak, [names.sha2SignatureHeader]: strong };
}
