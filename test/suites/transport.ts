// What every transport must bring to a bot and to its caller, whatever the wire: the same calls are played on each, and each
// has to tell the bot the same events in the same order, and to let the caller hear the same sound, byte for byte.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/package-root.ts';
import { decodeMulaw } from '../../src/speech/g711.ts';
import { recorded } from '../support/line-signals.ts';
import { SPOKEN_PROMPTS } from '../support/spoken-prompts.ts';
import { memoryTransport } from '../support/transports/memory.ts';
import type { HeardSound, DeliveredNext, DeliveredReply, TransportUnderTest } from '../support/transports/placed-call.ts';
import { until } from '../support/until.ts';
import { SCENARIOS, type Scenario, type Story } from './transport-scenarios.ts';

/** Flags of a server whose calls the suite can play: its bot, a voice for the prompts of the server, nothing to wait for. */
const FLAGS = [
  `--bots.folder=${packageRoot()}/test/fixtures/witness-bots`,
  `--bots.prompts_folder=${packageRoot()}/test/fixtures/speech`,
  `--synthesizer.cache_folder=${SPOKEN_PROMPTS}`,
  '--turns.max_farewell_ms=0',
];

/** What came of a call. */
interface Transcript extends Story {
  /** Those of each reply. */
  readonly sounds: readonly (readonly HeardSound[])[];
}

/** Plays everything on one transport. */
export function transportSuite(name: string, open: (flags: readonly string[]) => Promise<TransportUnderTest>): void {
  describe(name, () => {
    let transport: TransportUnderTest;
    let reference: TransportUnderTest;
    const witness = new Witness();
    beforeAll(async () => {
      witness.listen();
      transport = await open(FLAGS);
      reference = await memoryTransport(FLAGS);
    });
    afterAll(async () => {
      witness.close();
      await reference.close();
      await transport.close();
    });

    it.each(SCENARIOS)('brings $name', async ({ play, events, replies, speech, secret }) => {
      const { sounds, ...story } = await played(transport, play, witness);
      expect({ ...story, events: story.events.map(readable) }).toEqual({ events, replies, speech });
      const without = await played(reference, play, witness);
      expect(story.events).toEqual(without.events);
      expect(sounds.length).toBe(without.sounds.length);
      for (const [index, heard] of sounds.entries()) expectSame(heard, without.sounds[index] ?? []);
      if (secret !== undefined) expect(transport.log()).not.toContain(secret);
    });
  });
}

async function played(transport: TransportUnderTest, play: Scenario['play'], witness: Witness): Promise<Transcript> {
  const call = await transport.place();
  const events = witness.of(call.conversationId);
  const story = (): string => JSON.stringify([events, call.replies.map(inWords), call.speech, call.breaches]);
  const waits = (what: string, isSo: () => boolean): Promise<void> =>
    until(
      () => `${what}; so far: ${story()}`,
      () => {
        if (call.breaches.length > 0) throw new Error(`the call broke: ${story()}`);
        return isSo();
      },
    );
  await play({
    ...{ call, transport },
    replied: (count) =>
      waits(`${String(count)} replies are over`, () => call.replies.filter(({ next }) => next !== undefined).length >= count),
    heard: (count) => waits(`reply ${String(count)} is heard`, () => (call.replies[count - 1]?.sounds.length ?? 0) > 0),
    notified: (event) => waits(`the bot gets "${event}"`, () => events.some((known) => known.startsWith(event))),
  });
  await waits('the session is over', () => events.some((event) => event.startsWith('session_end')));
  await call.close();
  await transport.quiet();
  expect(call.breaches).toEqual([]);
  return { events, replies: call.replies.map(inWords), speech: call.speech, sounds: call.replies.map(({ sounds }) => sounds) };
}

/** Records the events of the bots of this process. */
class Witness {
  readonly #events = new Map<string, string[]>();
  readonly #hear = (message: unknown): void => {
    const { conversationId, event } = message as { readonly conversationId: string; readonly event: string };
    this.of(conversationId).push(event);
  };

  listen(): void {
    subscribe('parley.witness', this.#hear);
  }

  /** The events of the bot of a call so far; grows. */
  of(conversationId: string): string[] {
    const events = this.#events.get(conversationId) ?? [];
    this.#events.set(conversationId, events);
    return events;
  }

  close(): void {
    unsubscribe('parley.witness', this.#hear);
  }
}

/** An event without the fingerprint of what was said. */
const readable = (event: string): string => event.replace(/[0-9a-f]{64}/u, '…');

/** What codes mean: the code of minus zero may have become that of zero. */
const samplesOf = (mulaw: Uint8Array): Buffer => Buffer.from(decodeMulaw(mulaw).buffer);

const KNOWN: readonly (readonly [name: string, samples: Buffer])[] = [
  ...(['sentence', 'number', 'yes'] as const).map((name) => [name, samplesOf(recorded(name))] as const),
  ['long', samplesOf(new Uint8Array(2 * 65_536 + 60).fill(0x55))],
];

/** A reply in words: the sounds by name, those that cannot be cut marked, and what comes next. */
function inWords({ sounds, texts, next }: DeliveredReply): string {
  const heard = sounds.flatMap(({ mulaw, mayBeCut }) => namesOf(samplesOf(mulaw)).map((name) => (mayBeCut ? name : `${name}!`)));
  return `${[...heard, ...texts.map((text) => `"${text}"`)].join(' ')}: ${next === undefined ? '…' : nextInWords(next)}`;
}

function namesOf(samples: Buffer): readonly string[] {
  if (samples.length === 0) return [];
  const known = KNOWN.find(([, start]) => start.equals(samples.subarray(0, start.length)));
  return known === undefined ? ['something'] : [known[0], ...namesOf(samples.subarray(known[1].length))];
}

function nextInWords(next: DeliveredNext): string {
  if (next.kind !== 'listen') return `${next.kind} ${next.name} ${JSON.stringify(next.metadata)} ${next.summary ?? '-'}`;
  const { accept, digits, interDigitMs, terminator, sensitive, event } = next;
  const sent = event === undefined ? [] : [event.name, JSON.stringify(event.metadata)];
  return ['listen', accept, digits, interDigitMs, terminator, ...(sensitive ? ['sensitive'] : []), ...sent].join(' ');
}

function expectSame(heard: readonly HeardSound[], wanted: readonly HeardSound[]): void {
  expect(heard.map(({ mulaw, mayBeCut }) => [mulaw.length, mayBeCut])).toEqual(
    wanted.map(({ mulaw, mayBeCut }) => [mulaw.length, mayBeCut]),
  );
  for (const [index, { mulaw }] of heard.entries()) expect(mulaw.equals(wanted[index]?.mulaw ?? Buffer.alloc(0))).toBe(true);
}
