// Rules of the turn grammar that need the engine's inside to be proved: races between turns, and what is kept of a call.
import { describe, expect, it } from 'vitest';
import { bot, go, listen, say } from '../../../src/bot/index.ts';
import type { Input } from '../../../src/dialog/input.ts';
import { FakeVoice, testEngine, type TestEngine } from '../../support/engine.ts';
import { LeftSnapshots } from '../../support/homes.ts';
import { MemoryCall, type MemoryTurn } from '../../support/memory-transport.ts';

/** Whatever the bot is asked after its welcome ends the call, in one way or the other. */
const hasty = bot<null>({
  id: 'hasty',
  name: 'Hasty',
  version: 1,
  session_start: () => go(null, say('Hi.').listen()),
  dtmf_input: () => go(null, say('Connecting.').transfer({ reason: 'asked', summary: 'They asked.' })),
  otherwise: () => go(null, say('Goodbye.').end('done')),
});

const repeats = bot<{ readonly inputs: number }>({
  id: 'repeats',
  name: 'Repeats',
  version: 1,
  session_start: () => go({ inputs: 0 }, say('Your code, please.').listen({ sensitive: true, digits: 10 })),
  dtmf_input: ({ inputs }, { digits }) => go({ inputs: inputs + 1 }, say(`You entered ${digits}.`).listen()),
  speech_input: ({ inputs }, { text }) => go({ inputs: inputs + 1 }, say(`You said ${text ?? 'nothing'}.`).listen()),
  otherwise: (state) => go(state, listen()),
});

/** A bot that speaks, waits until the test lets it go on, and speaks again, whatever its signal says. */
function stubbornBot() {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const stubborn = bot<null>({
    id: 'stubborn',
    name: 'Stubborn',
    version: 1,
    session_start: () => go(null, listen()),
    dtmf_input: async function* () {
      yield say('One.');
      await released;
      yield say('Two.');
      return go(null, say('Three.').listen());
    },
    otherwise: () => go(null, say('Yes?').listen()),
  });
  return { stubborn, release };
}

const INPUTS = {
  dtmf: { kind: 'dtmf', digits: '1' },
  no_input: { kind: 'no_input' },
  session_end: { kind: 'session_end' },
} as const satisfies Record<string, Input>;

/** Calls that could end twice. */
const ENDINGS: readonly (readonly [string, readonly (keyof typeof INPUTS)[]])[] = [
  ['two turns whose replies both end it', ['dtmf', 'no_input']],
  ['three of them', ['no_input', 'dtmf', 'no_input']],
  ['a reply that ends it and a caller who hangs up', ['dtmf', 'session_end']],
  ['a caller who hangs up and a late input', ['session_end', 'dtmf']],
];

const errorsIn = ({ log }: TestEngine): readonly string[] =>
  log.lines.filter(({ level }) => level === 'error').map(({ message }) => message);

describe('rules of the turn grammar', () => {
  it.each([
    ['chunk', 'wav'],
    ['wav', 'chunk'],
  ] as const)('G-40 a call that began as %s goes on so where another process is set to %s', async (before, after) => {
    const left = new LeftSnapshots();
    const first = await testEngine([repeats], { snapshots: left, settings: { mode: before } });
    const welcome = await new MemoryCall(first.sessions).start();
    const second = await testEngine([repeats], { settings: { mode: after } });
    const turn = await new MemoryCall(second.sessions, { restored: left.restored() }).press('1');
    for (const { kinds, outputs } of [welcome, turn]) {
      expect(kinds).toEqual(before === 'chunk' ? ['prompt', 'final'] : ['final']);
      expect(outputs.at(-1)).toMatchObject({ kind: 'final', mode: before });
    }
  });

  it('G-40 a call that began as chunk stays so where another process has no voice', async () => {
    const left = new LeftSnapshots();
    const first = await testEngine([repeats], { snapshots: left });
    await new MemoryCall(first.sessions).start();
    const mute = await testEngine([repeats], { voice: new FakeVoice(false) });
    const turn = await new MemoryCall(mute.sessions, { restored: left.restored() }).press('1');
    expect(turn.outputs).toMatchObject([{ kind: 'final', mode: 'chunk', prompts: [{ audio: undefined, text: 'You entered 1.' }] }]);
  });

  it.each(ENDINGS)('G-77 a call gets one terminal event at most: %s', async (_what, kinds) => {
    const engine = await testEngine([hasty]);
    const call = new MemoryCall(engine.sessions);
    await call.start();
    const turns: MemoryTurn[] = [];
    for (const _ of kinds) turns.push(await call.open());
    turns.forEach(({ turn }, index) => {
      turn.push(INPUTS[kinds[index] ?? 'no_input']);
      turn.halfClose();
    });
    await Promise.all(turns.map(({ sink }) => sink.ended()));
    const terminal = turns.filter(({ sink }) => sink.next?.kind === 'transfer' || sink.next?.kind === 'end');
    expect(terminal.length).toBe(kinds.includes('session_end') ? 0 : 1);
    expect(turns.map(({ sink }) => sink.end)).toEqual(kinds.map(() => 'complete'));
    expect((await call.press('1')).isSuperseded).toBe(true);
    expect(errorsIn(engine)).toEqual([]);
  });

  it.each([
    ['the caller has pressed a key over it', (call: MemoryCall) => call.turn({ kind: 'dtmf_start' })],
    ['the caller has hung up', (call: MemoryCall) => call.hangUp()],
    ['its RPC was cancelled', undefined],
  ] as const)('G-14 G-16 nothing is written on a turn after its end, whatever its bot still says: %s', async (_what, act) => {
    const { stubborn, release } = stubbornBot();
    const engine = await testEngine([stubborn]);
    const call = new MemoryCall(engine.sessions);
    await call.start();
    const { turn, sink } = await call.open({ kind: 'dtmf', digits: '1' });
    turn.halfClose();
    for (let ms = 0; ms < 100 && sink.texts.length === 0; ms += 1) await engine.clock.advanceAsync(1);
    if (act === undefined) turn.abort('hang_up');
    else await act(call);
    // Longer than an interrupted bot may take.
    await engine.clock.advanceAsync(1000);
    const written = [...sink.outputs];
    release();
    const next = await call.turn({ kind: 'no_input' });
    await engine.clock.advanceAsync(1000);
    expect(sink.outputs).toEqual(written);
    expect(sink.texts).toEqual(['One.']);
    expect(next.texts).not.toContain('Two.');
    expect(errorsIn(engine)).toEqual([]);
  });

  it('G-83 a sensitive number that its bot does not keep stands in the log nowhere, and in the snapshot nowhere but in what the bot has said', async () => {
    const left = new LeftSnapshots();
    const engine = await testEngine([repeats], { snapshots: left, settings: { keepsTranscript: true } });
    const call = new MemoryCall(engine.sessions);
    await call.start();
    expect((await call.press('4917305682')).texts).toEqual(['You entered 4917305682.']);
    // What the bot itself has said stands in it, and is sealed where it goes.
    const snapshot = { ...left.newest(), reply: undefined, played: undefined };
    expect(snapshot.state).toEqual({ inputs: 1 });
    for (const kept of [snapshot, engine.log.lines, engine.seen]) expect(JSON.stringify(kept)).not.toContain('4917305682');
  });

  it('G-83 what a bot sends to the flow does not stay in the snapshot', async () => {
    const tells = bot<null>({
      id: 'tells',
      name: 'Tells',
      version: 1,
      session_start: () => go(null, say('Your card?').listen({ sensitive: true, digits: 16 })),
      dtmf_input: (_, { digits }) => go(null, listen({ event: { name: 'card', metadata: { number: digits } } })),
      otherwise: () => go(null, listen()),
    });
    const left = new LeftSnapshots();
    const { sessions } = await testEngine([tells], { snapshots: left });
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.press('4111111111111111')).next).toMatchObject({ event: { metadata: { number: '4111111111111111' } } });
    expect(JSON.stringify(left.newest())).not.toContain('4111');
  });
});
