// Random calls to bots, recorded, written, read back and replayed.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { appointments } from '../../bots/appointments.ts';
import { clinic } from '../../bots/clinic.ts';
import codeLine from '../../bots/code-line.ts';
import echo from '../../bots/echo.ts';
import frontDesk from '../../bots/front-desk.ts';
import accountNumber from '../../docs/examples/account-number.ts';
import menu from '../../docs/examples/menu.ts';
import survey from '../../docs/examples/survey.ts';
import waitingRoom from '../../docs/examples/waiting-room.ts';
import { loadSignalEngines } from '../../src/app/signal-engines.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import { bot, type Bot } from '../../src/bot/bot.ts';
import { go, say } from '../../src/bot/saying.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import type { RecordedEvent, Recording } from '../../src/recording/recording.ts';
import { differences, type Difference } from '../../src/recording/replay/differences.ts';
import { turnsOf } from '../../src/recording/replay/recorded-turns.ts';
import { replay } from '../../src/recording/replay/replay.ts';
import type { EngineSettings } from '../../src/session/settings.ts';
import type { CreateListener } from '../../src/session/turn/caller-audio.ts';
import { Listener } from '../../src/speech/listener.ts';
import { recordingLog, TEST_SETTINGS } from '../support/engine.ts';
import { KEY, recordRandomCall } from './random-call.ts';
import { oneOf, randomModel } from './random-surroundings.ts';

const SETTINGS: EngineSettings = {
  ...TEST_SETTINGS,
  maxFarewellMs: 60_000,
  fillerAfterMs: 1200,
  // No bot says the same: it could not be told apart within some milliseconds.
  lines: { ...TEST_SETTINGS.lines, filler: 'Just a second.' },
  keepsTranscript: true,
  words: { pauseMs: 400, finishedMs: 600, unfinishedMs: 1500 },
};

/** One replayed call. */
export interface ReplayedCall {
  readonly seed: number;
  readonly recording: Recording;
  readonly replayed: readonly RecordedEvent[];
  readonly differences: readonly Difference[];
}

export interface ReplayedCallsOptions {
  readonly calls: number;
  readonly seed: number;
  readonly onCall: (call: ReplayedCall) => void;
  /** The bot that is called; default: one of the bundled ones. */
  readonly called?: Bot;
  /** The bot of the replay, with the same id; default: the one that was called. */
  readonly changed?: Bot;
}

export async function replayCalls({ calls, seed: first, onCall, called, changed }: ReplayedCallsOptions): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-replay-'));
  const engines = await loadSignalEngines();
  const createListener: CreateListener = (given) => new Listener({ engines, patience: SETTINGS.patience, ...given });
  let draw: () => number = () => 0;
  let clock: Clock = systemClock;
  const model = randomModel(
    () => draw(),
    () => clock,
  );
  const all = [frontDesk, codeLine, echo, accountNumber, menu, survey, waitingRoom, clinic(model), appointments(model)] as const;
  const bots: readonly [Bot, ...Bot[]] = called === undefined ? all : [called];
  try {
    for (let seed = first; seed < first + calls; seed += 1) {
      draw = seededNumbers(seed);
      const file = path.join(folder, `${String(seed)}.parley-call`);
      const { id: agentId } = oneOf(draw, bots);
      await recordRandomCall({
        ...{ conversationId: `call-${String(seed)}`, agentId, bots, draw, settings: SETTINGS, createListener, file },
        onClock: (started) => {
          clock = started;
        },
      });
      const recording = readRecording(readFileSync(file), [KEY]);
      rmSync(file);
      const today = changed === undefined ? bots : [changed];
      const options = { bots: today, settings: SETTINGS, createListener, models: 'recorded', log: recordingLog() } as const;
      const replayed = await replay(recording, options);
      onCall({ seed, recording, replayed, differences: differences(recording.events, replayed) });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Replays calls to a menu with one line changed. */
export async function changedCalls({ calls, seed }: Pick<ReplayedCallsOptions, 'calls' | 'seed'>): Promise<{
  /** Turns that differ because they say the line. */
  readonly changed: number;
  /** Turns that differ without it, or do not differ although they say it. */
  readonly unexplained: number;
}> {
  const [called, changed] = [addressBot('twelve'), addressBot('fourteen')];
  let [explained, unexplained] = [0, 0];
  await replayCalls({
    ...{ calls, seed, called, changed },
    onCall: ({ recording, differences: found }) => {
      const turns = new Set(found.map(({ turn }) => turn));
      for (const { number, prompts, next } of turnsOf(recording.events)) {
        // Also in the transcript at the end of the call.
        const saysIt = JSON.stringify([prompts, next]).includes('Harbour');
        if (saysIt && turns.has(number)) explained += 1;
        else if (saysIt || turns.has(number)) unexplained += 1;
      }
    },
  });
  return { changed: explained, unexplained };
}

/** A menu of which one line says the number of a house. */
function addressBot(house: string): Bot {
  const offer = (text: string) => say(text).listen({ digits: 1 });
  return bot<{ readonly asked: number }>({
    ...{ id: 'address', name: 'Address', version: 1 },
    session_start: () => go({ asked: 0 }, offer('Press 2 for the address, 9 to finish.')),
    dtmf_input: ({ asked }, { digits }) => {
      if (digits === '9') return go({ asked }, say('Goodbye.').end('served'));
      return go({ asked: asked + 1 }, offer(digits === '2' ? `We are at ${house} Harbour Street.` : 'Sorry?'));
    },
    otherwise: ({ asked }) => go({ asked }, offer('Sorry?')),
  });
}
