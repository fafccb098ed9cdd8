// How each turn is counted at its end, which is what an operator's figures are made of.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { WHOLE_SENTENCE } from '../../support/caller-audio.ts';
import { DefectiveVoice, TEST_SETTINGS, type TestEngine, testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { transfer: transferPrompt } = TEST_SETTINGS.lines;
const FRAME = { kind: 'audio', audio: new Uint8Array(160).fill(0xff) } as const;

/** What rejects once the handler's signal aborts. */
function stopped(signal: AbortSignal, error: Error): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(error);
    });
  });
}

const moody = bot<null>({
  id: 'moody',
  name: 'Moody',
  version: 1,
  session_start: () => go(null, say('Welcome to the moody line.').listen()),
  dtmf_input: async (_state, { digits }, { signal }) => {
    switch (digits) {
      case '2':
        throw new TypeError('no such tool');
      case '3':
        return go(null, say('Bye.').end());
      case '4':
        return stopped(signal, new DOMException('stopped', 'AbortError'));
      case '5':
        return stopped(signal, new TypeError('no such tool'));
      case '6':
        return new Promise<never>(() => undefined);
      default:
        return go(null, say('Fine.').listen());
    }
  },
  otherwise: () => go(null, say('What?').listen()),
});

/** The turns that have ended since, and how. */
function endsOf({ seen }: TestEngine): readonly string[] {
  return seen.filter((event) => event.startsWith('turn_ended')).map((event) => event.slice('turn_ended '.length));
}

async function begun(options: Parameters<typeof testEngine>[1] = {}) {
  const engine = await testEngine([moody], options);
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(5000);
  engine.seen.length = 0;
  return { ...engine, call };
}

describe('a turn', () => {
  it.each([
    ['replied', 'an answer', ['1']],
    ['replied', 'farewell', ['3']],
    ['failed', 'an apology', ['2']],
    ['failed', 'a hand-over after the second failure in a row', ['2', '2']],
  ] as const)('counts as %s with %s', async (end, _what, keys) => {
    const engine = await begun();
    for (const digits of keys) await engine.call.press(digits);
    expect(endsOf(engine)).toEqual(keys.map(() => end));
  });

  it('counts as replied with a welcome, also where the conversation begins anew (G-28)', async () => {
    const engine = await testEngine([moody]);
    const call = new MemoryCall(engine.sessions);
    for (let starts = 0; starts < 2; starts += 1) await call.start();
    expect(endsOf(engine)).toEqual(['replied', 'replied']);
  });

  it('counts as replied when what cut the prompts was no speech, and they went on', async () => {
    const engine = await testEngine([moody], { recognizer: { recognize: () => Promise.resolve(undefined) } });
    const call = new MemoryCall(engine.sessions);
    await call.start();
    engine.clock.advance(100);
    expect((await call.turn(...WHOLE_SENTENCE)).texts).toEqual(['Welcome to the moody line.']);
    expect(endsOf(engine)).toEqual(['replied', 'replied']);
  });

  it.each([
    ['interrupted', 'whose bot obeys', '4'],
    ['interrupted', 'whose bot does not stop', '6'],
    ['interrupted', 'whose bot throws something else', '5'],
  ] as const)('counts as %s when the caller acts over one %s', async (end, _which, digits) => {
    const engine = await begun();
    const talkedOver = await engine.call.open({ kind: 'dtmf', digits });
    await flushMicrotasks();
    const next = await engine.call.open({ kind: 'dtmf', digits: '1' });
    await engine.clock.advanceAsync(1000);
    expect([talkedOver.sink.end, next.sink.texts]).toEqual(['complete', ['Fine.']]);
    expect(endsOf(engine)).toEqual([end, 'replied']);
  });

  it('counts as interrupted when its prompts were cut while its client did not read', async () => {
    const engine = await begun();
    const { turn, sink } = await engine.call.open();
    sink.isFull = true;
    turn.push({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    await engine.call.press('1');
    expect(endsOf(engine)).toEqual(['interrupted', 'replied']);
  });
});

describe('a turn on which we end the call', () => {
  it('G-77 counts as failed after a defect of ours', async () => {
    const voice = new DefectiveVoice();
    const engine = await begun({ voice });
    voice.defectiveText = 'Fine.';
    expect((await engine.call.press('1')).texts).toEqual([transferPrompt]);
    expect(endsOf(engine)).toEqual(['failed']);
  });

  it('counts as shutdown when the server stops', async () => {
    const engine = await begun();
    const { sink } = await engine.call.open(FRAME);
    await engine.sessions.close(0);
    expect(sink.texts).toEqual([transferPrompt]);
    expect(endsOf(engine)).toEqual(['shutdown']);
  });

  it('G-93 counts as superseded when the call has lasted too long', async () => {
    const engine = await begun({ settings: { maxDurationMs: 90_000 } });
    const { sink } = await engine.call.open(FRAME);
    await engine.clock.advanceAsync(120_000);
    expect(sink.texts).toEqual([transferPrompt]);
    expect(endsOf(engine)).toEqual(['superseded']);
  });
});

describe('a turn of a call that is over', () => {
  it('does not start the call over when it waited behind a welcome and the caller has hung up', async () => {
    const late = bot<null>({
      id: 'late',
      name: 'Late',
      version: 1,
      session_start: (_event, { signal }) => stopped(signal, new DOMException('stopped', 'AbortError')),
      otherwise: () => go(null, say('What?').listen()),
    });
    const { sessions, log } = await testEngine([late]);
    const call = new MemoryCall(sessions);
    await call.open({ kind: 'session_start', name: '', parameters: {} });
    await flushMicrotasks();
    const waiting = await call.open({ kind: 'dtmf', digits: '1' });
    await call.hangUp();
    await flushMicrotasks();
    expect([waiting.sink.kinds, waiting.sink.end, log.lines]).toEqual([[], 'complete', []]);
  });
});
