// `parley call`: places one call to a server as the platform would, shows what happens, and reports by its exit code whether
// the call went as expected. Connects the fake platform's caller with a voice.
import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { oneLine } from '../../base/one-line.ts';
import { DEFAULT_LIMITS } from '../caller/call-clock.ts';
import { placeCall, type CallOptions } from '../caller/caller.ts';
import type { LineConditions } from '../lines/conditions/line-conditions.ts';
import { EXPECTATION_FORMS, parseExpectation, type Expectation } from '../caller/expectation.ts';
import { openConnection } from '../lines/open-connection.ts';
import { recordingReader, type ReadRecording, callRecording } from '../caller/recorded-sound.ts';
import { resultData, resultLines, timelineText } from '../caller/result-text.ts';
import { SCRIPT_OPTIONS, draftScript, prepareScript, type GivenOption } from '../caller/script-draft.ts';
import { parseTarget } from '../lines/target.ts';
import { announceWords } from '../models/announce.ts';
import { decodeMulaw } from '../../speech/g711.ts';
import {
  TARGET_FORMS,
  demandHeaderText,
  readAccess,
  withAccessOptions,
  type Access,
  type AccessFlags,
  type CallSurroundings,
} from './call-access.ts';
import { isFileError, readBounded } from '../../base/terminal/surroundings.ts';
import { EXIT } from '../../base/terminal/failure.ts';
import { misuseOf } from '../../base/terminal/misuse.ts';
import { lineConditionsOf, withCallerOptions, withLineOptions, type CallerFlags, type LineFlags } from './call-options.ts';
import { callSeconds, paceOf, repeated, wholeNumber } from '../../base/terminal/option-values.ts';

interface Flags extends AccessFlags, LineFlags, CallerFlags {
  readonly agent?: string;
  readonly conversation?: string;
  readonly startName?: string;
  readonly param?: Readonly<Record<string, string>>;
  readonly hangupAfter?: number;
  readonly sendTerminator?: true;
  readonly directDigit?: true;
  readonly expect?: readonly string[];
  readonly hears?: readonly string[];
  readonly record?: string;
  readonly json?: true;
  readonly maxSeconds: number;
  readonly pace: number;
  readonly list?: true;
}

const LIST_LIMIT_MS = 10_000;
/** Most characters shown of an agent's name. */
const MAX_NAME = 500;

const EXAMPLES = `
Steps are done in the order given. Each begins when it is the caller's turn; after the last reply the caller hangs up.

Examples:
  $ parley call localhost:50051 --ca certificate.pem --org $ORG --token-file token.jws --agent front-desk --press 1
  $ parley call grpc://localhost:50051 --org $ORG --say "opening hours please" --expect 'text:/nine to five/i'
  $ parley call bots.example.org --org $ORG --token-file token.jws --interrupt 2500 --press 0 --expect transfer
  $ parley call localhost:50051 --ca certificate.pem --org $ORG --token-file token.jws --list
  $ parley call wss://bots.example.org --org $ORG --token-file token.jws --say "opening hours please"
  $ parley call grpc://localhost:50051 --org $ORG --say "Tuesday, please" --models http://127.0.0.1:8089/v1
  $ parley call grpc://localhost:50051 --org $ORG --press 1 --jitter 150 --burst 400 --slow-reader 3000ms
  $ parley call grpc://localhost:50051 --org $ORG --press 1 --pace 10

A bad line delays only what the caller sends; a lost connection ends the call with the outcome "lost". At another pace than
1 all times shown are those of the call, so that a server's own work seems to take so many times as long.

Exit code: 0 as expected, 1 the call failed or an expectation was not met, 2 wrong usage, 130 interrupted.`;

/** The command. Its surroundings default to this process. */
export function callCommand(surroundings: CallSurroundings): Command {
  const given: GivenOption[] = [];
  const command = new Command('call').description('place a call to a server as the platform does').argument('<target>', TARGET_FORMS);
  withCallerOptions(withLineOptions(withAccessOptions(command)))
    .option('--agent <id>', 'agent to talk to (default: the server decides)')
    .option('--conversation <id>', 'conversation id (default: a new one)')
    .option('--start-name <name>', 'name of the session start event')
    .option('--param <name=value>', 'send this with the session start; may be repeated', parameter)
    .option('--say <text>', 'step: speak')
    .option('--wav <file>', 'step: speak from a recording')
    .option('--press <keys>', 'step: press keys, such as 1234#')
    .option('--wait <ms>', 'step: stay silent')
    .option('--event <name[=json]>', 'step: the flow sends a custom event, such as bonus={"points":3}')
    .option('--hangup', 'step: hang up')
    .option('--interrupt <ms>', 'begin the next step this long into the prompts')
    .option('--hangup-after <ms>', 'hang up at this time of the call, whatever happens', wholeNumber)
    .option('--send-terminator', 'send the terminator as the last key (G-67)')
    .option('--direct-digit', 'answer a one-digit menu without START_OF_DTMF (G-64)')
    .option('--expect <what>', `${EXPECTATION_FORMS}; may be repeated`, repeated)
    .option('--hears <wav>', 'expect this recording in a reply, sample by sample; may be repeated', repeated)
    .option('--record <file>', 'write a stereo WAV: left heard, right said')
    .option('--json', 'print JSON lines')
    .option('--max-seconds <n>', 'longest call, 1 to 3600', callSeconds, 120)
    .option('--pace <n>', 'so many times as fast as life, 1 to 50', paceOf, 1)
    .option('--list', 'list the agents instead of calling')
    .addHelpText('after', EXAMPLES)
    // Listeners record the options in the order of the command line, which the parsed values do not show.
    .action((target: string, flags: Flags) => runCommand(command, target, flags, given, surroundings));
  for (const option of SCRIPT_OPTIONS) command.on(`option:${option}`, (value: string | null) => given.push({ option, value: value ?? '' }));
  return command;
}

async function runCommand(
  command: Command,
  target: string,
  flags: Flags,
  given: readonly GivenOption[],
  surroundings: CallSurroundings,
): Promise<void> {
  const misused = misuseOf(command);
  const { access, drafts, expectations, conditions } = await understand(target, flags, given).catch(misused);
  if (flags.list === true) {
    await listAgents(access, flags.json === true, surroundings);
    return;
  }
  const voice = await surroundings.openVoice();
  try {
    const tools = { ...voice, readFile: readBounded };
    const recording = recordingReader(tools);
    const script = await prepareScript(drafts, tools, recording).catch(misused);
    await announceWords(flags.models, script).catch(misused);
    const sounds = await Promise.all((flags.hears ?? []).map((file) => knownSound(file, recording))).catch(misused);
    const { agent, conversation, hangupAfter, pace, silenceAfter } = flags;
    const call: CallOptions = {
      ...access,
      ...(agent === undefined ? {} : { agentId: agent }),
      ...(conversation === undefined ? {} : { conversationId: conversation }),
      ...(hangupAfter === undefined ? {} : { hangUpAtMs: hangupAfter }),
      sessionStart: { name: flags.startName ?? '', parameters: flags.param ?? {} },
      script,
      expectations: [...expectations, ...sounds],
      habits: { terminatorIncluded: flags.sendTerminator ?? false, singleDigitDirect: flags.directDigit ?? false },
      ...(conditions === undefined ? {} : { conditions }),
      limits: { callMs: flags.maxSeconds * 1000 },
      replySound: sounds.length > 0 ? 'samples' : expectations.some(({ kind }) => kind === 'no_clipping') ? 'facts' : 'none',
      changeRate: voice.changeRate,
      clock: surroundings.clock,
      pace,
      noInputMs: silenceAfter,
      repeatsLostTurns: flags.repeatLostTurns ?? false,
    };
    await holdCall(call, flags, surroundings);
  } finally {
    await voice.close();
  }
}

/** @throws RangeError with a sentence for the user when the recording cannot be used. */
async function knownSound(file: string, recording: ReadRecording): Promise<Expectation> {
  return { written: `hears ${file}`, kind: 'sound', known: decodeMulaw(await recording(file, `--hears ${file}`)) };
}

interface Understood {
  readonly access: Access;
  readonly drafts: ReturnType<typeof draftScript>;
  readonly expectations: readonly Expectation[];
  readonly conditions: LineConditions | undefined;
}

/** @throws RangeError with a sentence for the user; always as a rejection. */
async function understand(target: string, flags: Flags, given: readonly GivenOption[]): Promise<Understood> {
  const drafts = draftScript(given);
  const expectations = (flags.expect ?? []).map(parseExpectation);
  const conditions = lineConditionsOf(flags);
  const access = await readAccess(target, flags);
  if (flags.conversation !== undefined) demandHeaderText('--conversation', flags.conversation);
  return { access, drafts, expectations, conditions };
}

async function holdCall(
  options: CallOptions,
  { json, record, pace }: Pick<Flags, 'json' | 'record' | 'pace'>,
  surroundings: CallSurroundings,
): Promise<void> {
  const { print, complain, isColoured } = surroundings;
  const stop = new AbortController();
  const forget = surroundings.onInterrupt(() => stop.abort());
  const line = timelineText(isColoured);
  try {
    const result = await placeCall({
      ...options,
      signal: stop.signal,
      onEvent: (event) => print(json === true ? JSON.stringify(event) : line(event)),
    });
    if (json === true) print(JSON.stringify({ result: resultData(result), ...(pace === 1 ? {} : { pace }) }));
    else print(['', ...resultLines(result, isColoured), ...paceLines(pace)].join('\n'));
    surroundings.setExitCode(result.outcome === 'interrupted' ? EXIT.interrupted : result.ok ? EXIT.ok : EXIT.failed);
    if (record !== undefined) await writeFile(record, callRecording(result));
  } catch (error) {
    if (!isFileError(error)) throw error;
    complain(`the recording cannot be written: ${error.message}`);
    surroundings.setExitCode(EXIT.failed);
  } finally {
    forget();
  }
}

/** A note on the times of a call at another pace than 1. */
function paceLines(pace: number): readonly string[] {
  return pace === 1 ? [] : [`  at pace ${String(pace)}: a server's own work counts ${String(pace)} times in these times`];
}

async function listAgents(access: Access, json: boolean, { clock, print, complain, setExitCode }: CallSurroundings): Promise<void> {
  const connection = openConnection({ ...access, target: parseTarget(access.target), clock, connectLimitMs: DEFAULT_LIMITS.connectMs });
  try {
    const answer = await connection.listAgents(access.organizationId, LIST_LIMIT_MS);
    if ('code' in answer) {
      complain(`${answer.code}: ${answer.message}`);
      setExitCode(EXIT.failed);
      return;
    }
    if (!json && answer.length === 0) print('the server offers no agents');
    for (const agent of answer) {
      const { id, name, isDefault } = agent;
      const words = `${oneLine(id, MAX_NAME)}  ${oneLine(name, MAX_NAME)}${isDefault ? '  (default)' : ''}`;
      print(json ? JSON.stringify(agent) : words);
    }
    setExitCode(EXIT.ok);
  } finally {
    await connection.close();
  }
}

function parameter(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
