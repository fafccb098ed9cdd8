// A fake platform that runs in another terminal, as the signer of tokens for conformance checks. Knows no check.
import type { TokenSigner } from '../../conformance/tokens.ts';
import type { Transport } from '../../lines/target.ts';
import { control } from '../platform/control-client.ts';

/** What a running platform gives to a conformance run. */
export interface PlatformTokens {
  /** The token that the platform presents for the organization now. */
  readonly token: string;
  readonly signer: TokenSigner;
}

/**
 * Reads the address of a platform, which must run on this machine, and returns its port.
 *
 * @throws RangeError for anything else.
 */
export function platformPort(address: string): number {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const port = Number(url?.port);
  if (url === undefined || !['127.0.0.1', 'localhost'].includes(url.hostname) || port < 1)
    throw new RangeError(`"${address}" is no platform of this machine: write http://127.0.0.1:PORT, as \`parley platform\` prints it`);
  return port;
}

/**
 * Asks a platform for the token that it presents, and returns this token with a signer.
 *
 * @param transport - of the server under test: each transport has its own data source.
 * @throws AppError when the platform cannot be asked or presents no token.
 */
export async function platformTokens(port: number, organizationId: string, transport: Transport): Promise<PlatformTokens> {
  const { token } = await control(port, 'token', { organizationId, transport });
  return {
    token,
    signer: {
      sign: async ({ claims = {}, header = {}, by = 'first' }) => {
        // The cast is safe: it only removes `readonly`, and `control` changes nothing.
        const members = { claims: { ...claims }, header: { ...header } };
        const order = { organizationId, transport, ...members, by } as Parameters<typeof control<'forge'>>[2];
        return (await control(port, 'forge', order)).token;
      },
      rotate: async () => {
        await control(port, 'rotate', {});
      },
      keyRequests: async () => (await control(port, 'keys', {})).requests,
    },
  };
}
