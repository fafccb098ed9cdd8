// `parley call`: places one call to a server as the platform would, shows what happens, and says by its exit code whether
// it went as expected. Joins the fake platform's caller with a voice; the call itself is the fake platform's business.
import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { AppError } from '../base/errors.ts';
import { placeCall, type CallOptions } from '../fake-platform/caller.ts';
import { parseExpectation, type Expectation } from '../fake-platform/expectation.ts';
import { GrpcConnection } from '../fake-platform/grpc-line.ts';
import { loadProfile } from '../fake-platform/profile.ts';
import { callRecording } from '../fake-platform/recording.ts';
import { resultData, resultLines } from '../fake-platform/result-text.ts';
import { SCRIPT_OPTIONS, draftScript, prepareScript, type GivenOption } from '../fake-platform/script-draft.ts';
import { parseTarget, targetText } from '../fake-platform/target.ts';
import { timelineText } from '../fake-platform/timeline-text.ts';
import { isFileError, processSurroundings, readBounded, type CallSurroundings } from './call-surroundings.ts';
import { EXIT } from './failure.ts';

interface Flags {
  readonly org: string;
  readonly agent?: string;
  readonly conversation?: string;
  readonly profile: string;
  readonly param?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly bearer?: true;
  readonly ca?: string;
  readonly serverName?: string;
  readonly plaintext?: true;
  readonly hangupAfter?: number;
  readonly sendTerminator?: true;
  readonly directDigit?: true;
  readonly expect?: readonly string[];
  readonly record?: string;
  readonly json?: true;
  readonly maxSeconds: number;
  readonly list?: true;
}

const LIST_LIMIT_MS = 10_000;
const CONNECT_LIMIT_MS = 5000;

const EXAMPLES = `
Steps are done in the order given. Each begins when it is the caller's turn; after the last reply the caller hangs up.

Examples:
  $ parley call localhost:50051 --ca certificate.pem --org $ORG --token-file token.jws --agent front-desk --press 1
  $ parley call grpc://localhost:50051 --org $ORG --say "opening hours please" --expect 'text:/nine to five/i'
  $ parley call bots.example.org --org $ORG --token-file token.jws --interrupt 2500 --press 0 --expect transfer
  $ parley call localhost:50051 --ca certificate.pem --org $ORG --token-file token.jws --list

Exit code: 0 as expected, 1 the call failed or an expectation was not met, 2 wrong usage, 130 interrupted.`;

/** The command. Its surroundings default to this process. */
export function callCommand(surroundings: CallSurroundings = processSurroundings()): Command {
  const given: GivenOption[] = [];
  const command = new Command('call')
    .description('place a call to a server as the platform does, in real time')
    .argument('<target>', 'host:port or grpcs://host:port with TLS, grpc://host:port without')
    .requiredOption('--org <id>', 'organization the call belongs to')
    .option('--agent <id>', 'agent to talk to (default: the server decides)')
    .option('--conversation <id>', 'conversation id (default: a new one)')
    .option('--profile <name>', 'platform profile: a shipped name or a file', 'fake')
    .option('--param <name=value>', 'send this with the session start; may be repeated', parameter)
    .option('--token-file <file>', 'data-source token to present')
    .option('--token <token>', 'the token itself; others on this machine can read it in the process list')
    .option('--bearer', 'present the token as "Bearer TOKEN"')
    .option('--ca <file>', 'PEM of the only authorities to trust')
    .option('--server-name <name>', 'name the certificate must carry (default: the host)')
    .option('--plaintext', 'no TLS')
    .option('--say <text>', 'step: speak')
    .option('--wav <file>', 'step: speak from a recording')
    .option('--press <keys>', 'step: press keys, such as 1234#')
    .option('--wait <ms>', 'step: stay silent')
    .option('--hangup', 'step: hang up')
    .option('--interrupt <ms>', 'begin the next step this long into the prompts')
    .option('--hangup-after <ms>', 'hang up at this time of the call, whatever happens', wholeNumber)
    .option('--send-terminator', 'hand the terminator over with the keys (G-67)')
    .option('--direct-digit', 'answer a one-digit menu without START_OF_DTMF (G-64)')
    .option('--expect <what>', 'text:/pattern/i, text:words, transfer, end or latency<800ms; may be repeated', repeated)
    .option('--record <file>', 'write a stereo WAV: left heard, right said')
    .option('--json', 'print JSON lines')
    .option('--max-seconds <n>', 'longest call', wholeNumber, 120)
    .option('--list', 'list the agents instead of calling')
    .addHelpText('after', EXAMPLES)
    // Events come in the order of the command line across different options; their values alone would not tell.
    .action((target: string, flags: Flags) => runCommand(command, target, flags, given, surroundings));
  for (const option of SCRIPT_OPTIONS) {
    command.on(`option:${option}`, (value: string | null) => {
      given.push({ option, value: value ?? '' });
    });
  }
  return command;
}

async function runCommand(
  command: Command,
  target: string,
  flags: Flags,
  given: readonly GivenOption[],
  surroundings: CallSurroundings,
): Promise<void> {
  const misused = (thrown: unknown): never => {
    const isMisuse = thrown instanceof RangeError || (thrown instanceof AppError && thrown.code === 'prompt_unusable');
    if (isMisuse) return command.error(`error: ${thrown.message}`, { exitCode: EXIT.usage });
    throw thrown;
  };
  const { access, drafts, expectations } = await understand(target, flags, given).catch(misused);
  if (flags.list === true) {
    await listAgents(access, flags.json === true, surroundings);
    return;
  }
  const voice = await surroundings.openVoice();
  try {
    const script = await prepareScript(drafts, { ...voice, readFile: readBounded }).catch(misused);
    const { agent, conversation, hangupAfter } = flags;
    const call: CallOptions = {
      ...access,
      ...(agent === undefined ? {} : { agentId: agent }),
      ...(conversation === undefined ? {} : { conversationId: conversation }),
      ...(hangupAfter === undefined ? {} : { hangUpAtMs: hangupAfter }),
      sessionStart: { parameters: flags.param ?? {} },
      script,
      expectations,
      habits: { terminatorIncluded: flags.sendTerminator ?? false, singleDigitDirect: flags.directDigit ?? false },
      limits: { callMs: flags.maxSeconds * 1000, connectMs: CONNECT_LIMIT_MS },
      changeRate: voice.changeRate,
      clock: surroundings.clock,
    };
    await holdCall(call, flags, surroundings);
  } finally {
    await voice.close();
  }
}

type Access = Pick<CallOptions, 'target' | 'profile' | 'organizationId' | 'token' | 'bearer' | 'certificateAuthority' | 'serverName'>;

interface Understood {
  readonly access: Access;
  readonly drafts: ReturnType<typeof draftScript>;
  readonly expectations: readonly Expectation[];
}

/** @throws RangeError with a sentence for the user; async, so that everything wrong comes the same way. */
async function understand(target: string, flags: Flags, given: readonly GivenOption[]): Promise<Understood> {
  const { token, tokenFile, ca, serverName } = flags;
  if (token !== undefined && tokenFile !== undefined) throw new RangeError('--token and --token-file: give one of them');
  const address = targetText(parseTarget(target, flags.plaintext));
  const drafts = draftScript(given);
  const expectations = (flags.expect ?? []).map(parseExpectation);
  const shown = tokenFile === undefined ? token : new TextDecoder().decode(await readBounded(tokenFile)).trim();
  const access: Access = {
    target: address,
    profile: loadProfile(flags.profile),
    organizationId: flags.org,
    bearer: flags.bearer ?? false,
    ...(shown === undefined ? {} : { token: shown }),
    ...(ca === undefined ? {} : { certificateAuthority: await readBounded(ca) }),
    ...(serverName === undefined ? {} : { serverName }),
  };
  return { access, drafts, expectations };
}

async function holdCall(
  options: CallOptions,
  { json = false, record }: { json?: boolean; record?: string },
  surroundings: CallSurroundings,
): Promise<void> {
  const { print, complain, isColoured } = surroundings;
  const stop = new AbortController();
  const forget = surroundings.onInterrupt(() => {
    stop.abort();
  });
  const line = timelineText(isColoured);
  try {
    const result = await placeCall({
      ...options,
      signal: stop.signal,
      onEvent: (event) => {
        print(json ? JSON.stringify(event) : line(event));
      },
    });
    if (json) print(JSON.stringify({ result: resultData(result) }));
    else print(['', ...resultLines(result, isColoured)].join('\n'));
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

async function listAgents(access: Access, json: boolean, { clock, print, complain, setExitCode }: CallSurroundings): Promise<void> {
  const connection = new GrpcConnection({ ...access, target: parseTarget(access.target), clock, connectLimitMs: CONNECT_LIMIT_MS });
  try {
    const answer = await connection.listAgents(access.organizationId, LIST_LIMIT_MS);
    if ('code' in answer) {
      complain(`${answer.code}: ${answer.message}`);
      setExitCode(EXIT.failed);
      return;
    }
    if (!json && answer.length === 0) print('the server offers no agents');
    for (const agent of answer) print(json ? JSON.stringify(agent) : `${agent.id}  ${agent.name}${agent.isDefault ? '  (default)' : ''}`);
    setExitCode(EXIT.ok);
  } finally {
    connection.close();
  }
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/u.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

function parameter(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function repeated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
