// `parley conformance`: checks any server of the contract from outside, rule by rule, and reports which rules it keeps and
// which not, with the exchange as evidence. The checks are in the fake platform's conformance room.
import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import pc from 'picocolors';
import { AppError } from '../../base/errors.ts';
import { chooseChecks, runConformance, unknownChoices, type CheckResult } from '../conformance/run.ts';
import { ALL_CHECKS, RPC_SUITE, SOCKET_SUITE, UNSEEN } from '../conformance/registry.ts';
import type { Suite } from '../conformance/registry.ts';
import type { GivenSuspect } from '../conformance/suspect.ts';
import { keysOf, type Key } from '../caller/key.ts';
import { parseTarget } from '../lines/target.ts';
import { encodeMulaw } from '../../speech/g711.ts';
import { readWav } from '../../speech/wav.ts';
import { readAccess, TARGET_FORMS, withAccessOptions, type AccessFlags, type CallSurroundings } from './call-access.ts';
import { isFileError, readBounded } from '../../base/terminal/surroundings.ts';
import { platformPort, platformTokens } from './conformance/platform-signer.ts';
import { conformancePage } from './conformance/report-page.ts';
import { checkList, conformanceData, conformanceText } from './conformance/report-text.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { paceOf, repeated, wholeNumberFrom } from '../../base/terminal/option-values.ts';
import { progressView, type ProgressView } from '../../base/terminal/progress-view.ts';

interface Flags extends Omit<AccessFlags, 'org'> {
  readonly org?: string;
  readonly agent?: string;
  readonly say: string;
  readonly wav?: string;
  readonly press: readonly Key[];
  readonly endPress?: readonly Key[];
  readonly transferPress?: readonly Key[];
  readonly pace: number;
  readonly jobs: number;
  readonly answerSeconds: number;
  readonly newKeySeconds: number;
  readonly rule: readonly string[];
  readonly check: readonly string[];
  readonly platform?: string;
  readonly html?: string;
  readonly ours?: true;
  readonly list?: true;
  readonly json?: true;
}

const EXAMPLES = `
Without a token it checks everything that needs none. The bot is spoken to, keys are pressed, and it is left waiting: some
fifty to a hundred calls, and what the bot does in them it does for real.

Examples:
  $ parley conformance grpc://localhost:50051 --org $ORG
  $ parley conformance bots.example.org --org $ORG --token-file token.jws --agent front-desk --end-press 9
  $ parley conformance wss://bots.example.org --org $ORG --token-file token.jws --end-press 9
  $ parley conformance grpc://localhost:8086 --org $ORG --platform http://127.0.0.1:8090 --html report.html
  $ parley conformance grpc://localhost:50051 --org $ORG --rule G-42 --rule G-43 --json
  $ parley conformance --list

Exit code: 0 nothing failed (advice does not count), 1 a check failed or stayed undecided or the server cannot be talked to, 2 wrong usage, 130 interrupted.`;

/** The command. Its surroundings default to this process. */
export function conformanceCommand(surroundings: CallSurroundings): Command {
  const command = withAccessOptions(
    new Command('conformance').description('check a server against the contract, rule by rule').argument('[target]', TARGET_FORMS),
  )
    .option('--agent <id>', 'agent to talk to (default: the server decides)')
    .option('--say <text>', 'what the caller says', 'Hello, what are your opening hours?')
    .option('--wav <file>', 'a recording of what the caller says, WAV of any rate, up to two minutes')
    .option('--press <keys>', 'keys that the bot answers', keys, ['1'])
    .option('--end-press <keys>', 'keys upon which the bot ends the call', keys)
    .option('--transfer-press <keys>', 'keys upon which the bot transfers the caller', keys)
    .option('--pace <n>', 'send the caller’s audio so many times as fast as real time, 1 to 50', paceOf, 1)
    .option('--jobs <n>', 'checks at once, and calls at once beside those that overlap in a check', wholeNumberFrom(1, 64), 8)
    .option('--answer-seconds <n>', 'longest wait for a sign of the server', wholeNumberFrom(1, 60), 10)
    .option('--new-key-seconds <n>', 'longest wait until a new key of the platform is known', wholeNumberFrom(1, 600), 36)
    .option('--rule <id>', 'only checks of this rule, such as G-42; may be repeated', repeated, [])
    .option('--check <id>', 'only this check; may be repeated', repeated, [])
    .option('--platform <url>', 'a running `parley platform` that signs tokens, right and wrong, such as http://127.0.0.1:8090')
    .option('--ours', 'hold the server to what only this project has decided as well: for our own server')
    .option('--html <file>', 'write a report with every exchange')
    .option('--list', 'list the checks instead of running them')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES);
  // The list of checks needs neither server nor organization.
  for (const option of command.options) option.mandatory = false;
  return command.action((target: string | undefined, flags: Flags) => runCommand(command, target, flags, surroundings));
}

async function runCommand(command: Command, target: string | undefined, flags: Flags, surroundings: CallSurroundings): Promise<void> {
  const { print, setExitCode } = surroundings;
  const misused = (message: string): never => command.error(`error: ${message}`, { exitCode: EXIT.usage });
  const [unknown] = unknownChoices(ALL_CHECKS, flags.rule, flags.check);
  if (unknown !== undefined) {
    const why = UNSEEN[unknown];
    if (why !== undefined) misused(`${unknown} has no check. ${why}`);
    misused(`no check has this rule or id: ${unknown}. \`parley conformance --list\` shows all`);
  }
  if (flags.list === true) {
    const checks = chooseChecks(ALL_CHECKS, flags.rule, flags.check);
    print(flags.json === true ? JSON.stringify(checks) : checkList(checks).trimEnd());
    setExitCode(EXIT.ok);
    return;
  }
  const { org } = flags;
  if (target === undefined) return misused('name the target: host:port, or ws://host:port');
  if (org === undefined) return misused('name the organization: --org');
  const suspect = await suspectOf(target, { ...flags, org }, surroundings).catch((thrown: unknown) => {
    if (thrown instanceof RangeError) return misused(thrown.message);
    throw thrown;
  });
  const work = { target, suspect, flags, surroundings, misused };
  await examine(suspect.target.transport === 'websocket' ? SOCKET_SUITE : RPC_SUITE, work);
}

interface Work {
  readonly target: string;
  readonly suspect: GivenSuspect;
  readonly flags: Flags;
  readonly surroundings: CallSurroundings;
  /** Ends the command with a usage error. */
  readonly misused: (message: string) => never;
}

async function examine(suite: Suite, { target, suspect, flags, surroundings, misused }: Work): Promise<void> {
  const { jobs, json, html, rule, check, ours: isOurs = false } = flags;
  const checks = chooseChecks(suite.checks, rule, check);
  const [foreign] = unknownChoices(suite.checks, rule, check);
  if (foreign !== undefined) misused(`no check of a target such as ${target} has this rule or id: ${foreign}`);
  const { print, complain, setExitCode, onInterrupt, isColoured } = surroundings;
  const view = progressView(surroundings);
  const stop = new AbortController();
  const forget = onInterrupt(() => stop.abort());
  try {
    view.show(0, checks.length, 'checks');
    const found = await runConformance({ suite, suspect, checks, isOurs, jobs, signal: stop.signal, onResult: progressOf(view) });
    view.stop();
    print(json === true ? JSON.stringify(conformanceData(found, target)) : conformanceText(found, pc.createColors(isColoured)));
    if (html !== undefined) await writeFile(html, conformancePage(found, target));
    setExitCode(found.isInterrupted ? EXIT.interrupted : found.ok ? EXIT.ok : EXIT.failed);
  } catch (thrown) {
    if (!isFileError(thrown)) throw thrown;
    complain(`the report cannot be written: ${thrown.message}`);
    setExitCode(EXIT.failed);
  } finally {
    view.stop();
    forget();
  }
}

/** The server under test, from the options. @throws RangeError with a sentence for the user. */
async function suspectOf(target: string, flags: Flags & { readonly org: string }, surroundings: CallSurroundings): Promise<GivenSuspect> {
  const { certificateAuthority, serverName, profile, organizationId, token, bearer } = await readAccess(target, flags);
  const parsed = parseTarget(target, flags.plaintext);
  const platform =
    flags.platform === undefined ? undefined : await platformTokens(platformPort(flags.platform), organizationId, parsed.transport);
  return {
    target: parsed,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(serverName === undefined ? {} : { serverName }),
    ...{ profile, organizationId },
    token: token ?? platform?.token,
    isBearer: bearer ?? false,
    signer: platform?.signer,
    clock: surroundings.clock,
    agentId: flags.agent ?? '',
    speech: await speechOf(flags, surroundings),
    press: flags.press,
    endPress: flags.endPress ?? [],
    transferPress: flags.transferPress ?? [],
    timing: { answerMs: flags.answerSeconds * 1000, pace: flags.pace, newKeyMs: flags.newKeySeconds * 1000 },
  };
}

/** What the caller says; undefined when no synthesizer can speak it. @throws RangeError for a recording that cannot be used. */
async function speechOf({ say, wav }: Flags, { openVoice }: CallSurroundings): Promise<Uint8Array | undefined> {
  if (wav !== undefined) return recordedSpeech(wav, openVoice);
  const voice = await openVoice();
  try {
    return await voice.speak(say);
  } catch (thrown) {
    // Without a synthesizer, the checks that need speech report that they do not apply.
    if (thrown instanceof AppError) return undefined;
    throw thrown;
  } finally {
    await voice.close();
  }
}

/** @throws RangeError for a recording that cannot be used. */
async function recordedSpeech(file: string, openVoice: CallSurroundings['openVoice']): Promise<Uint8Array> {
  const recording = readable(await readBounded(file));
  if (recording === undefined || recording.sampleRateHz <= 0) throw new RangeError(`${file} is no WAV that can be read`);
  const { samples, sampleRateHz } = recording;
  if (samples.length > MAX_SPEECH_S * sampleRateHz)
    throw new RangeError(
      `${file} is longer than ${String(MAX_SPEECH_S)} s: it is said again and again, so give what one caller says at a time`,
    );
  if (sampleRateHz === SPEECH_RATE_HZ) return encodeMulaw(samples);
  const voice = await openVoice();
  try {
    return encodeMulaw(voice.changeRate(samples, sampleRateHz, SPEECH_RATE_HZ));
  } finally {
    await voice.close();
  }
}

function readable(bytes: Uint8Array): ReturnType<typeof readWav> | undefined {
  try {
    return readWav(bytes);
  } catch (thrown) {
    if (thrown instanceof AppError) return undefined;
    throw thrown;
  }
}

/** Shows the progress of the run, and each failure at once. */
function progressOf(view: ProgressView): (result: CheckResult, done: number, of: number) => void {
  let failed = 0;
  return ({ id, verdict, reason }, done, of) => {
    if (verdict === 'fail') {
      failed += 1;
      view.say(`FAIL ${id}: ${reason}`);
    }
    view.show(done, of, `checks, ${String(failed)} failed`);
  };
}

const SPEECH_RATE_HZ = 8000;
/** Longest recording of the caller's words, s. */
const MAX_SPEECH_S = 120;

function keys(text: string): readonly Key[] {
  const read = keysOf(text);
  if (read === undefined) throw new InvalidArgumentError('Give keys of a phone: 0-9, A-D, * and #.');
  return read;
}
