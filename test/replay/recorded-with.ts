// Recordings of calls whose inputs are given: what the bot answers is found by playing them.
import { loadSignalEngines } from '../../src/app/signal-engines.ts';
import type { Bot } from '../../src/bot/bot.ts';
import type { RecordedEvent, RecordedInput, Recording } from '../../src/recording/recording.ts';
import { replay } from '../../src/recording/replay/replay.ts';
import { Listener } from '../../src/speech/listener.ts';
import { recordingLog, TEST_SETTINGS } from '../support/engine.ts';

export const START: RecordedInput = { kind: 'session_start', name: '', parameters: {} };

/** An input and its time; default: ten seconds after the one before. */
export type TimedInput = RecordedInput & { readonly atMs?: number };

/** What the caller did, one turn each. */
export function callTo(agentId: string, inputs: readonly TimedInput[]): Recording {
  const events = inputs.flatMap(({ atMs: given, ...input }, index): RecordedEvent[] => {
    const at = { atMs: given ?? index * 10_000, turn: `call-1#${String(index + 1)}` };
    return [
      { kind: 'turn_opened', ...at, opensWith: input.kind === 'session_start' ? 'start' : 'input' },
      { kind: 'input', ...at, input },
      { kind: 'half_closed', ...at },
    ];
  });
  const call = {
    organizationId: 'org',
    conversationId: 'call-1',
    agentId,
    startedAtMs: 1_800_000_000_000,
    vendorConfig: '',
    parameters: {},
  };
  return {
    header: { form: 1, id: 'one', version: '1.0.0', call, botVersion: 1, transport: 'grpc', mode: 'chunk', isTied: false, settings: {} },
    events,
    callerSound: new Uint8Array(0),
    botSound: new Uint8Array(0),
  };
}

/** What happens with these bots. */
export async function replayed(recording: Recording, ...bots: readonly Bot[]): Promise<readonly RecordedEvent[]> {
  const engines = await loadSignalEngines();
  return replay(recording, {
    ...{ bots, settings: { ...TEST_SETTINGS, maxFarewellMs: 60_000 }, models: 'recorded', log: recordingLog() },
    createListener: (given) => new Listener({ engines, ...given }),
  });
}

/** A call as it goes with a bot, as a recording. */
export async function recordedWith(bot: Bot, inputs: readonly TimedInput[]): Promise<Recording> {
  const call = callTo(bot.id, inputs);
  const answers = (await replayed(call, bot)).filter(({ kind }) => ['output', 'state', 'turn_closed', 'ended'].includes(kind));
  return { ...call, events: [...call.events, ...answers].toSorted((a, b) => a.atMs - b.atMs) };
}
