// The address of a server and the credentials of its callers: options that every command with calls to a server shares.
// Knows no call.
import { X509Certificate } from 'node:crypto';
import type { Command } from 'commander';
import type { CallOptions } from '../caller/caller.ts';
import { loadProfile } from '../platform/profile.ts';
import { parseTarget, targetText } from '../lines/target.ts';
import { readBounded, type CommandSurroundings } from '../../base/terminal/surroundings.ts';
import type { ChangeRate } from '../caller/prompt-sound.ts';

/** The caller's voice, and the resampler of that voice. Close it after use. */
export interface CallerVoice {
  /** µ-law, 8 kHz, in the default voice or the given one. @throws AppError `synthesis_failed`, also when no synthesizer is installed. */
  speak(text: string, voice?: string): Promise<Uint8Array>;
  readonly changeRate: ChangeRate;
  close(): Promise<void>;
}

/** The surroundings of a command with calls. Tests bring their own. */
export interface CallSurroundings extends CommandSurroundings {
  /** The command closes the voice. */
  readonly openVoice: () => Promise<CallerVoice>;
}

export interface AccessFlags {
  readonly org: string;
  readonly profile: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly bearer?: true;
  readonly ca?: string;
  readonly serverName?: string;
  readonly plaintext?: true;
}

/** How a server is reached and which token it gets. */
export type Access = Pick<
  CallOptions,
  'target' | 'profile' | 'organizationId' | 'token' | 'bearer' | 'certificateAuthority' | 'serverName'
>;

/** The forms of a command's target, for its help. */
export const TARGET_FORMS =
  'gRPC: host:port or grpcs://host:port with TLS, grpc://host:port without; WebSocket: wss://host:port with TLS, ws://host:port without';

/**
 * Adds the options to a command, which defines its target itself: as an argument or an option.
 *
 * @param organizationId - of the calls when `--org` is missing; undefined makes `--org` required.
 */
export function withAccessOptions(command: Command, organizationId?: string): Command {
  const about = 'organization the call belongs to';
  return (organizationId === undefined ? command.requiredOption('--org <id>', about) : command.option('--org <id>', about, organizationId))
    .option('--profile <name>', 'platform profile: a shipped name or a file', 'fake')
    .option('--token-file <file>', 'data-source token to present')
    .option('--token <token>', 'the token itself; others on this machine can read it in the process list')
    .option('--bearer', 'present the token as "Bearer TOKEN", as a WebSocket always does')
    .option('--ca <file>', 'PEM of the only authorities to trust')
    .option('--server-name <name>', 'name the certificate must carry (default: the host)')
    .option('--plaintext', 'no TLS');
}

/** Resolves the options. @throws RangeError with a sentence for the user; always as a rejection. */
export async function readAccess(target: string, flags: AccessFlags): Promise<Access> {
  const { token, tokenFile, ca, serverName } = flags;
  if (token !== undefined && tokenFile !== undefined) throw new RangeError('--token and --token-file: give one of them');
  const address = targetText(parseTarget(target, flags.plaintext));
  const shown = tokenFile === undefined ? token : new TextDecoder().decode(await readBounded(tokenFile)).trim();
  if (shown !== undefined) demandHeaderText(tokenFile === undefined ? '--token' : `--token-file ${tokenFile}`, shown);
  return {
    target: address,
    profile: loadProfile(flags.profile),
    organizationId: flags.org,
    bearer: flags.bearer ?? false,
    ...(shown === undefined ? {} : { token: shown }),
    ...(ca === undefined ? {} : { certificateAuthority: await readAuthorities(ca) }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gsu;

/**
 * Reads certificates of authorities. From a file without any, TLS would report no error and trust nobody.
 *
 * @throws RangeError with a sentence for the user when the file cannot be read, or holds no certificate or a broken one.
 */
async function readAuthorities(file: string): Promise<Uint8Array> {
  const bytes = await readBounded(file);
  const certificates = new TextDecoder().decode(bytes).match(CERTIFICATE) ?? [];
  if (certificates.length > 0 && certificates.every(isCertificate)) return bytes;
  throw new RangeError(`--ca ${file}: give a file of certificates as PEM (-----BEGIN CERTIFICATE-----)`);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).serialNumber !== '';
  } catch {
    return false;
  }
}

/**
 * Checks a text for a request header. The gRPC library would quote an invalid text in its error, but a token must
 * not be printed.
 *
 * @param what - the option, for the message; the message never contains the text itself.
 * @throws RangeError with a sentence for the user when the text is empty or contains anything but visible ASCII characters.
 */
export function demandHeaderText(what: string, text: string): void {
  if (/^[!-~]+$/u.test(text)) return;
  throw new RangeError(`${what}: a header takes one line of visible ASCII characters, without blanks`);
}
