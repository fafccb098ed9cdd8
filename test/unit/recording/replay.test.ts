import { describe, expect, it } from 'vitest';
import frontDesk from '../../../bots/front-desk.ts';
import { bot, type Bot } from '../../../src/bot/bot.ts';
import { go, play, say, type Saying } from '../../../src/bot/saying.ts';
import type { RecordedEvent } from '../../../src/recording/recording.ts';
import { differences } from '../../../src/recording/replay/differences.ts';
import { callTo, recordedWith, replayed, START } from '../../replay/recorded-with.ts';
import { changedCalls, replayCalls, type ReplayedCall } from '../../replay/replayed-calls.ts';

const counting = (line: string, members: Partial<{ count: number; delayMs: number }> = {}): Bot =>
  bot<{ readonly count: number }>({
    ...{ id: 'counting', name: 'Counting', version: 1 },
    session_start: () => go({ count: members.count ?? 0 }, say('Hello.').listen()),
    dtmf_input: async ({ count }, _event, { clock }) => {
      await new Promise<void>((resolve) => clock.after(members.delayMs ?? 0, resolve));
      return go({ count: count + 1 }, say(line).listen());
    },
    otherwise: (state) => go(state, say('What?').listen()),
  });

const KEYS = [START, { kind: 'dtmf', digits: '1' }, { kind: 'no_input' }, { kind: 'dtmf', digits: '2' }] as const;

const chime = (byte: number): Saying => play({ mulaw: new Uint8Array(800).fill(byte), durationMs: 100 });

const playing = (said: Saying): Bot =>
  bot<null>({
    ...{ id: 'player', name: 'Player', version: 1 },
    session_start: () => go(null, said.listen()),
    otherwise: () => go(null, said.listen()),
  });

describe('a replay', () => {
  it('plays ten seconds between two inputs in no time, and finds a bot that has not changed the same', async () => {
    const recording = await recordedWith(frontDesk, [START, { kind: 'dtmf', digits: '1' }, { kind: 'dtmf', digits: '0' }]);
    expect(differences(recording.events, await replayed(recording, frontDesk))).toEqual([]);
  });

  it('names the turns that say another line, with both sides', async () => {
    const recording = await recordedWith(counting('One more.'), KEYS);
    const found = differences(recording.events, await replayed(recording, counting('And another.')));
    expect(found).toEqual([
      { what: 'prompts', recorded: 'One more.', replayed: 'And another.', turn: 2 },
      { what: 'prompts', recorded: 'One more.', replayed: 'And another.', turn: 4 },
    ]);
  });

  it.each([
    ['a recording', play('open.wav'), play('closed.wav'), /^\[open\.wav\]$/u],
    ['a sound of the same length', chime(1), chime(2), /^\[sound [\da-f]{16}\]$/u],
  ])('finds another one in place of %s', async (_, was, is, recorded) => {
    const recording = await recordedWith(playing(was), [START]);
    expect(differences(recording.events, await replayed(recording, playing(was)))).toEqual([]);
    const found = differences(recording.events, await replayed(recording, playing(is)));
    expect(found).toMatchObject([{ what: 'prompts', turn: 1 }]);
    expect(found[0]?.recorded).toMatch(recorded);
  });

  it('finds another state, with its place', async () => {
    const recording = await recordedWith(counting('One more.'), KEYS);
    const [first] = differences(recording.events, await replayed(recording, counting('One more.', { count: 5 })));
    expect(first).toEqual({ what: 'state', at: 'count', recorded: '0', replayed: '5', turn: 1 });
  });

  it('compares latencies where a tolerance is given', async () => {
    const recording = await recordedWith(counting('One more.'), KEYS);
    const slow = await replayed(recording, counting('One more.', { delayMs: 200 }));
    expect(differences(recording.events, slow)).toEqual([]);
    expect(differences(recording.events, slow, { laterMs: 250 })).toEqual([]);
    const [first] = differences(recording.events, slow, { laterMs: 150 });
    expect(first).toEqual({ what: 'latency', recorded: '0 ms', replayed: '200 ms', turn: 2 });
  });

  it('waits for a bot that waits for something outside', async () => {
    const answer = async () => {
      // A service of the author's own knows no clock of ours.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return go(null, say('There.').listen());
    };
    const outside = bot<null>({
      ...{ id: 'counting', name: 'Outside', version: 1 },
      session_start: answer,
      otherwise: answer,
    });
    const recording = await recordedWith(outside, [START, { kind: 'dtmf', digits: '1' }]);
    const prompts = recording.events.filter((event) => event.kind === 'output' && event.output.kind === 'prompt');
    expect(prompts.map(({ atMs }) => Math.floor(atMs / 10_000))).toEqual([0, 1]);
    expect(prompts[0]?.atMs).toBeGreaterThan(0);
    expect(differences(recording.events, await replayed(recording, outside))).toEqual([]);
  });

  it('puts digits in place of those that are withheld, and marks what depends on them', async () => {
    const keyed = bot<{ readonly digits: string }>({
      ...{ id: 'counting', name: 'Keyed', version: 1 },
      session_start: () => go({ digits: '' }, say('Hello.').listen()),
      dtmf_input: (_state, { digits }) => go({ digits }, say('Thank you.').listen()),
      otherwise: (state) => go(state, say('What?').listen()),
    });
    const recording = await recordedWith(keyed, [START, { kind: 'dtmf', digits: '4711' }]);
    const withheld = recording.events.map((event): RecordedEvent =>
      event.kind === 'input' && 'digits' in event.input
        ? { ...event, input: { kind: 'dtmf', length: event.input.digits.length, withheld: true } }
        : event,
    );
    const found = differences(withheld, await replayed({ ...recording, events: withheld }, keyed));
    expect(found).toEqual([{ what: 'state', at: 'digits', recorded: '"4711"', replayed: '"0000"', turn: 2, isAfterWithheld: true }]);
    const unknown = withheld.map((event): RecordedEvent => (event.kind === 'state' ? { ...event, state: { withheld: true } } : event));
    expect(differences(unknown, await replayed({ ...recording, events: unknown }, keyed))).toEqual([]);
  });

  it('does not compare the turn in which the server gave the caller away', async () => {
    const recording = await recordedWith(counting('One more.'), KEYS);
    const last = { atMs: 40_000, turn: 'call-1#5' };
    const left: readonly RecordedEvent[] = [
      ...recording.events,
      { kind: 'turn_opened', ...last, opensWith: 'nothing' },
      { kind: 'output', ...last, output: { kind: 'final', prompts: [], next: { kind: 'transfer', metadata: {} } } },
      { kind: 'ended', atMs: 40_000, end: 'too_long' },
    ];
    const today = await replayed({ ...recording, events: left }, counting('One more.'));
    expect(differences(left, today)).toEqual([]);
    const byBot = left.map((event): RecordedEvent => (event.kind === 'ended' ? { ...event, end: 'bot_transfer' } : event));
    expect(differences(byBot, today)).toHaveLength(1);
  });

  it('refuses a call to a bot that does not exist', async () => {
    await expect(replayed(callTo('nobody', [START]), frontDesk)).rejects.toMatchObject({ code: 'agent_unknown' });
  });
});

describe('random calls of the bundled bots', () => {
  it('go the same way again', { timeout: 60_000 }, async () => {
    const calls: ReplayedCall[] = [];
    await replayCalls({ calls: 50, seed: 4000, onCall: (call) => calls.push(call) });
    const different = calls.flatMap(({ seed, differences: all }) =>
      all.filter(({ isAfterWithheld }) => isAfterWithheld !== true).map((found) => ({ seed, ...found })),
    );
    expect(different).toEqual([]);
    const kinds = new Set(calls.flatMap(({ recording }) => recording.events.map(({ kind }) => kind)));
    expect([...kinds]).toEqual(expect.arrayContaining(['audio', 'words', 'interim', 'service', 'aborted', 'state']));
  });

  it('differ where a changed line is said, and nowhere else', { timeout: 60_000 }, async () => {
    const { changed, unexplained } = await changedCalls({ calls: 50, seed: 4000 });
    expect(unexplained).toBe(0);
    expect(changed).toBeGreaterThan(3);
  });
});
