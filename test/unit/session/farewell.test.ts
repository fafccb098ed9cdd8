import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { Output } from '../../../src/dialog/output.ts';
import { testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { LINE_SILENCE } from '../../support/caller-audio.ts';
import { MemoryCall, MemorySink } from '../../support/memory-transport.ts';

const GOODBYE = 'Thank you and goodbye.';
const PLAY_MS = GOODBYE.length * 10;

const polite = bot<null>({
  id: 'polite',
  name: 'Polite',
  version: 1,
  session_start: () => go(null, say('Hi.').listen()),
  dtmf_input: (_, { digits }) =>
    go(null, digits === '1' ? say(GOODBYE).end('done', { summary: 'short' }) : say(GOODBYE).transfer({ reason: 'asked' })),
  otherwise: () => go(null, say('What?').listen()),
});

async function started(settings: Parameters<typeof testEngine>[1] = {}) {
  const engine = await testEngine([polite], { ...settings, settings: { maxFarewellMs: 30_000, ...settings.settings } });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(5000);
  return { ...engine, call };
}

describe('the farewell of a call', () => {
  it('G-7A are heard to their end before the terminal event goes out', async () => {
    const { call, clock, seen } = await started();
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect(sink.kinds).toEqual(['prompt']);
    await clock.advanceAsync(PLAY_MS - 1);
    expect(sink.kinds).toEqual(['prompt']);
    expect(seen).not.toContain('session_ended bot_end');
    await clock.advanceAsync(1);
    expect(sink.kinds).toEqual(['prompt', 'final']);
    expect(sink.next).toMatchObject({ kind: 'end', summary: 'short' });
    expect(seen).toContain('session_ended bot_end');
  });

  it('G-7A wait for their bound at most', async () => {
    const { call, clock } = await started({ settings: { maxFarewellMs: 50 } });
    const { sink } = await call.open({ kind: 'dtmf', digits: '2' });
    await clock.advanceAsync(49);
    expect(sink.next).toBeUndefined();
    await clock.advanceAsync(1);
    expect(sink.next).toMatchObject({ kind: 'transfer' });
  });

  it('G-7A travel with the terminal event in WAV mode, where the platform plays them first', async () => {
    const { call } = await started({ settings: { mode: 'wav' } });
    const { sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect(sink.kinds).toEqual(['final']);
    expect(sink.texts).toEqual([GOODBYE]);
  });

  it('G-7A give no terminal event to a caller who hangs up meanwhile', async () => {
    const { call, clock, seen } = await started();
    const farewell = await call.open({ kind: 'dtmf', digits: '2' });
    await flushMicrotasks();
    const hangUp = await call.hangUp();
    await clock.advanceAsync(PLAY_MS);
    expect(farewell.sink.next).toBeUndefined();
    expect(farewell.sink.end).toBe('complete');
    expect(hangUp.next).toEqual({ kind: 'gone' });
    expect(seen.filter((line) => line.startsWith('session_ended'))).toEqual(['session_ended caller']);
  });

  it('G-77 a terminal event whose stream was cancelled goes out on the next turn, once and without a word', async () => {
    const { call, clock, seen } = await started();
    const farewell = await call.open({ kind: 'dtmf', digits: '2' });
    await flushMicrotasks();
    farewell.turn.abort('hang_up');
    await clock.advanceAsync(PLAY_MS);
    expect(farewell.sink.next).toBeUndefined();
    const again = await call.turn({ kind: 'no_input' });
    expect(again.kinds).toEqual(['final']);
    expect(again.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'asked' } });
    expect((await call.turn({ kind: 'no_input' })).isSuperseded).toBe(true);
    expect(seen.filter((line) => line.startsWith('session_ended'))).toEqual(['session_ended bot_transfer']);
  });

  it('G-7C lets nobody wait behind them', async () => {
    const { call, clock } = await started();
    const farewell = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect((await call.press('2')).isSuperseded).toBe(true);
    await clock.advanceAsync(PLAY_MS);
    expect(farewell.sink.next).toMatchObject({ kind: 'end' });
  });

  it('are finished when the server stops, without a second farewell', async () => {
    const { call, clock, sessions } = await started();
    const farewell = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    const closed = sessions.close(0);
    await clock.advanceAsync(PLAY_MS);
    await closed;
    expect(farewell.sink.texts.filter((text) => text !== undefined)).toEqual([GOODBYE]);
    expect(farewell.sink.next).toMatchObject({ kind: 'end' });
  });

  it('G-77 let the terminal event go out on the next stream, also when nothing but audio comes on it', async () => {
    const { call, clock } = await started();
    const farewell = await call.open({ kind: 'dtmf', digits: '2' });
    const listening = await call.open(LINE_SILENCE);
    await flushMicrotasks();
    farewell.turn.abort('hang_up');
    await clock.advanceAsync(PLAY_MS);
    listening.turn.push(LINE_SILENCE);
    listening.turn.push(LINE_SILENCE);
    await flushMicrotasks();
    expect(listening.sink.kinds).toEqual(['final']);
    expect(listening.sink.next).toMatchObject({ kind: 'transfer' });
  });

  it('G-7C lets nobody wait behind them on the next stream either', async () => {
    const { call, clock } = await started();
    const farewell = await call.open({ kind: 'dtmf', digits: '2' });
    await flushMicrotasks();
    farewell.turn.abort('hang_up');
    const next = await call.open({ kind: 'no_input' });
    await flushMicrotasks();
    expect((await call.press('2')).isSuperseded).toBe(true);
    await clock.advanceAsync(PLAY_MS);
    expect(next.sink.next).toMatchObject({ kind: 'transfer' });
  });

  it('G-77 leave the terminal event pending when the wire refuses it', async () => {
    const { call, clock, sessions } = await started();
    const session = await sessions.acquire({
      organizationId: 'org',
      conversationId: 'call-1',
      agentId: '',
      vendorConfig: '',
      parameters: {},
    });
    class Refusing extends MemorySink {
      override write(output: Output): boolean {
        if (output.kind !== 'final') return super.write(output);
        turn.fail(new AppError('slow_reader', 'the client reads too slowly: too many bytes wait for it'));
        return true;
      }
    }
    const turn = session.beginTurn(new Refusing());
    turn.push({ kind: 'dtmf', digits: '2' });
    await clock.advanceAsync(PLAY_MS);
    expect((await call.turn({ kind: 'no_input' })).next).toMatchObject({ kind: 'transfer' });
  });
});
