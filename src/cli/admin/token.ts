// `parley admin token inspect`: the claims of a data source's token, and whether the server would accept it. Shows neither the
// token nor its nonce.
import { Command } from 'commander';
import type { TokenInspection } from '../../admin/doctor/inspect-token.ts';
import { inspectAsServer, type Inspection } from '../../app/inspection.ts';
import { readBounded } from '../../base/terminal/surroundings.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { alignedRows } from '../../base/terminal/table.ts';
import type { Person } from './person.ts';
import { adminCommand, runAsConfigured, type AdminOutput } from './run.ts';
import { endText } from './time-text.ts';

/** Longest token that is read, bytes: far more than the platform sends. */
const MAX_TOKEN_BYTES = 65_536;

/** The command with its sub-commands. @param person - may type the token in. */
export function tokenGroup(person: Person): Command {
  return new Command('token')
    .description('inspect tokens of data sources')
    .addHelpText('after', '\nExample:\n  $ parley admin token inspect --token-file token.txt --config my.yaml')
    .addCommand(inspectCommand(person));
}

function inspectCommand(person: Person): Command {
  const command = adminCommand(new Command('inspect'), 'token inspect --token-file token.txt --config my.yaml')
    .description('say what a token says, and whether the server would let it in; exit code 1 when not. Works without the administration')
    .option('--token-file <file>', 'the token; default: the standard input')
    .option('--ask', 'ask the platform, too, for the data sources of the organization that the token names');
  return command.action(async ({ tokenFile, ask: asks = false }: { tokenFile?: string; ask?: boolean }) => {
    await runAsConfigured(command, async (given) => {
      const { settings, clock, output, signal } = given;
      const token = await tokenIn(tokenFile, person, command, output, signal);
      const inspection = await inspectAsServer(token, { ...given, asks }, signal);
      const { verdict, ...known } = inspection;
      if (!settings.auth.enabled) output.note('auth.enabled is false: the server lets every call in, whatever its token\n');
      output.show({ ...verdict, ...known }, alignedRows(rowsOf(inspection, output.colors, clock.nowMs())));
      process.exitCode = verdict.isAccepted ? EXIT.ok : EXIT.failed;
    });
  });
}

async function tokenIn(
  file: string | undefined,
  person: Person,
  command: Command,
  { note }: AdminOutput,
  signal: AbortSignal,
): Promise<string> {
  const misused = (message: string): never => command.error(`error: ${message}`, { exitCode: EXIT.usage });
  if (file === undefined && person.isThere) note('Paste the token, then Ctrl-D on a line of its own.\n');
  const token = file === undefined ? await person.readInput(MAX_TOKEN_BYTES, signal) : await textOf(file, misused);
  return token.trim() === '' ? misused('there is no token: pipe one in, or name its file with --token-file') : token;
}

async function textOf(file: string, misused: (message: string) => never): Promise<string> {
  try {
    return Buffer.from(await readBounded(file)).toString('utf8');
  } catch (thrown) {
    if (thrown instanceof RangeError) return misused(thrown.message);
    throw thrown;
  }
}

function rowsOf({ verdict, claims, transport, heldAgainst }: Inspection, colors: AdminOutput['colors'], nowMs: number) {
  const { settings, store, platform } = heldAgainst;
  return [
    ...(verdict.isAccepted
      ? [
          ['verdict', colors.green('accepted')],
          ['speaks for', `organization ${verdict.principal.organizationId}, data source ${verdict.principal.dataSourceId}`],
        ]
      : [
          ['verdict', colors.red(`refused (${verdict.reason})`)],
          ['what to do', verdict.mend],
        ]),
    [
      'held against',
      `data sources: ${String(settings)} of the settings, ${String(store)} of the store, ${String(platform)} of the platform`,
    ],
    ['transport', transport],
    ...(claims === undefined ? [['claims', 'it cannot be read as a token']] : claimRows(claims, nowMs)),
  ];
}

function claimRows(claims: NonNullable<TokenInspection['claims']>, nowMs: number): readonly (readonly string[])[] {
  const time = (text: string | undefined): string | undefined => (text === undefined ? undefined : endText(Date.parse(text), nowMs));
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['algorithm', claims.algorithm],
    ['key id', claims.keyId],
    ['issuer', claims.issuer],
    ['audience', claims.audience],
    ['subject', claims.subject],
    ['url', claims.url],
    ['schema', claims.schemaId],
    ['organization', claims.organizationId],
    ['issued', time(claims.issuedAt)],
    ['not before', time(claims.notBefore)],
    ['expires', time(claims.expiresAt)],
    ['nonce', claims.nonceDigest === undefined ? undefined : `its SHA-256 begins with ${claims.nonceDigest}`],
  ];
  return rows.map(([name, value]) => [name, value ?? '-']);
}
