// Tries out one bot with `TestCall`: one call for each kind of event. Finds errors that would be an apology in a real call. Whether the bot
// says the right thing is for its own tests.
import { waitAtMost } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { toAppError } from '../base/errors.ts';
import type { BotModule, BotProblem } from '../bot/loader.ts';
import { locationInFolder } from '../bot/error-location.ts';
import { TestCall } from '../bot/testing.ts';
import { shownFile } from '../dialog/shown-file.ts';

/** Each event is tried in its own call. */
const PROBES: readonly (readonly [event: string, act: (call: TestCall) => Promise<unknown>])[] = [
  ['no_input', (call) => call.silence()],
  ['speech_input with a text', (call) => call.speak('hello')],
  ['speech_input without a text', (call) => call.speak()],
  ['speech_input with a recognizer that failed', (call) => call.speak(undefined, { understood: 'failed' })],
  ['dtmf_input', (call) => call.press('1')],
];

export interface ProbeOptions {
  /** Absolute folder of the modules. */
  readonly folder: string;
  /** Longest wait for one reply, ms. */
  readonly limitMs: number;
  /** Rejects when the recording cannot be played. */
  readonly renderRecording: (file: string) => Promise<unknown>;
}

/** All problems of one bot that these calls show. Never throws. */
export async function probeBot({ file, bot }: BotModule, options: ProbeOptions): Promise<readonly BotProblem[]> {
  const recordings = new Set<string>();
  /** Tries one event. Undefined: the reply is valid. */
  const tried = async (event: string, call: TestCall, turn: Promise<unknown>): Promise<BotProblem | undefined> => {
    try {
      const { kind } = await waitAtMost(turn, options.limitMs, systemClock);
      if (kind !== 'value') {
        return problemOf(
          file,
          event,
          `there was no answer within ${String(options.limitMs)} ms`,
          'see turns.deadline_ms and context.signal',
        );
      }
      for (const prompt of call.prompts) if (prompt.kind === 'file') recordings.add(prompt.file);
      return undefined;
    } catch (thrown) {
      const { message, cause } = toAppError(thrown);
      const place = locationInFolder(options.folder, cause);
      const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
      return problemOf(file, event, reason, place === undefined ? 'mend this handler' : `look at ${place}`);
    }
  };
  const problems: BotProblem[] = [];
  for (const [event, act] of PROBES) {
    const call = new TestCall(bot);
    const start = await tried('session_start', call, call.start());
    if (start !== undefined) {
      problems.push(start);
      break;
    }
    // A bot may end or transfer the call in its first reply.
    if (call.reply.next.kind !== 'listen') break;
    const answer = await tried(event, call, act(call));
    if (answer !== undefined) problems.push(answer);
  }
  for (const recording of recordings) {
    const problem = await options.renderRecording(recording).then(
      () => undefined,
      // The message masks digits. Those of a file name come from no caller, and the author needs the whole name.
      (thrown: unknown) => toAppError(thrown).message.replace(shownFile(recording), () => JSON.stringify(recording)),
    );
    if (problem !== undefined) problems.push({ file, problem, mend: 'put the recording into the prompts folder (bots.prompts_folder)' });
  }
  return problems;
}

function problemOf(file: string, event: string, reason: string, mend: string): BotProblem {
  return { file, problem: `${event}: ${reason}`, mend };
}
