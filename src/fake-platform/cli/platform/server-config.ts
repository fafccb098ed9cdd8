// The configuration of a server that uses one running fake platform: its credentials, a sealed store with a key of its
// own, and loopback addresses. Nobody else on the machine can read the file.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { stringify } from 'yaml';
import { AppError } from '../../../base/errors.ts';
import { isFileError } from '../../../base/terminal/surroundings.ts';
import type { FakePlatform } from './start-platform.ts';

/** The values that the server needs beyond those of the platform. */
export interface ServerPlan {
  /** The address that the server registers for its data sources. */
  readonly url: string;
  readonly grpcPort: number;
  /** Port for calls over WebSocket, and the registered address of their data sources (W-03). Absent: calls over gRPC only. */
  readonly websocket?: { readonly port: number; readonly url: string };
  readonly webhookPort: number;
  /** Address for deliveries when a proxy is in front of the server. Default: the server's own port. */
  readonly webhookUrl?: string | undefined;
  readonly redirectUri: string;
  /** Further sections, such as `tls`. */
  readonly more: Readonly<Record<string, unknown>>;
}

const OWNER_ONLY = 0o600;
/** First line of a file that this command made and may overwrite. */
const MARK = '# Made by `parley platform`';
const HEADING = `${MARK} for the time it runs; the next start writes it anew. Holds secrets of the fake platform, and nobody else's.\n`;
const KEY_BYTES = 32;
/** Short, so that a developer who watches sees renewals. */
const LIFETIME_MINUTES = 10;
const LEAD_MINUTES = 2;
/** Nearly the shortest pauses that the settings allow: on one machine there is no load to avoid. */
const RETRY_S = 5;
const CHECK_S = 10;

/**
 * Writes the configuration, and the key of its store into the same folder. Keeps an existing key, which the store needs to open.
 *
 * @param file - absolute path; key and store have the same name with the extensions `.key` and `.store`.
 * @throws AppError `config_invalid` when the file exists and is not ours, or cannot be written.
 */
export async function writeServerConfig(file: string, { api, issuer }: FakePlatform, plan: ServerPlan): Promise<void> {
  const stem = file.slice(0, file.length - path.extname(file).length);
  const [keyFile, storeFile] = [`${stem}.key`, `${stem}.store`];
  try {
    if ((await textOf(file))?.startsWith(MARK) === false) {
      throw new AppError('config_invalid', `${file} is there, and \`parley platform\` has not made it: name another file`);
    }
    if ((await textOf(keyFile)) === undefined) await writeSecret(keyFile, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
    const { clientId, clientSecret } = api.integration;
    const settings = {
      platform: { profile: 'fake', extra_issuers: [issuer.issuer] },
      grpc: { host: '127.0.0.1', port: plan.grpcPort },
      ...(plan.websocket && { websocket: { enabled: true, host: '127.0.0.1', port: plan.websocket.port } }),
      ...plan.more,
      admin: {
        enabled: true,
        base_url: api.baseUrl,
        store: { file: path.basename(storeFile), keys: [{ file: path.basename(keyFile) }] },
        integration: { client_id: clientId, client_secret: clientSecret, redirect_uri: plan.redirectUri },
        service_app: { client_id: api.serviceApp.clientId, client_secret: api.serviceApp.clientSecret },
        data_sources: {
          url: plan.url,
          ...(plan.websocket && { websocket_url: plan.websocket.url, transports: ['grpc', 'websocket'] }),
          audience: issuer.claims.audience,
          subject: issuer.claims.subject,
          token_lifetime_minutes: LIFETIME_MINUTES,
          renewal_lead_minutes: LEAD_MINUTES,
          retry_interval_s: RETRY_S,
          check_interval_s: CHECK_S,
        },
        webhooks: { target_url: plan.webhookUrl ?? `http://127.0.0.1:${String(plan.webhookPort)}/webhooks`, port: plan.webhookPort },
      },
    };
    await writeSecret(file, HEADING + stringify(settings));
  } catch (thrown) {
    if (isFileError(thrown))
      throw new AppError('config_invalid', `the configuration cannot be written: ${thrown.message}`, { cause: thrown });
    throw thrown;
  }
}

/** Replaces the whole file; only the user can read the new one, whatever the permissions of the old one were. */
export async function writeSecret(file: string, text: string): Promise<void> {
  await writeFileAtomic(file, text, { mode: OWNER_ONLY });
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    if (isFileError(thrown) && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
}
