// The settings of the operations server and of traces, as part of the schema.
import { isServiceAddress } from '../../base/http-service.ts';
import { flag, host, integer, list, number, orNone, secret, text, webUrl } from './rules.ts';

/** A key of 32 bytes. */
export const sealKey = secret(64, /^[\da-f]{64}$/iu, 'hex digits, exactly 64 of them');
const token = secret(500, /^[\x21-\x7e]{32,}$/u, 'visible ASCII characters, at least 32 of them');

export const OPS = {
  host: host(),
  port: integer(0, 65_535),
  host_names: list(host(), 100),
  service_name: text(63, 'a word of 1 to 63 letters, digits and hyphens', /^[a-z\d-]+$/iu),
  console: {
    view_token: orNone(token),
    listen_token: orNone(token),
    proxy_header: text(100, 'the name of a header', /^[a-z][a-z\d-]*$/iu),
    proxy_key: orNone(sealKey),
    guards_metrics: flag(),
  },
} as const;

const collector = webUrl('an https:// address (http:// on loopback only) without user, query and fragment', isServiceAddress);

export const TRACES = { endpoint: orNone(collector), share: number(0, 1), content: flag() } as const;
