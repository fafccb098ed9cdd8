import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CircuitState } from '../../../src/base/circuit-breaker.ts';
import { HttpService } from '../../../src/base/http-service.ts';
import { FakeClock, flushMicrotasks } from '../../support/fake-clock.ts';
import { body, speechService, stall, type Answering, type SpeechService } from '../../support/speech-service.ts';
import { until, within } from '../../support/until.ts';
import { never } from '../../support/voice.ts';

/** Answers that it will go on in a protocol that nobody asked for. */
const switching: Answering = ({ socket }) => {
  socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n');
};

interface Surroundings {
  readonly clock: FakeClock;
  readonly server: SpeechService;
  readonly service: HttpService;
  readonly circuit: CircuitState[];
}

/** A service that may be silent for 700 ms. */
async function open(ways: readonly Answering[]): Promise<Surroundings> {
  const clock = new FakeClock();
  const server = await speechService(...ways);
  const circuit: CircuitState[] = [];
  const service = new HttpService({
    ...{ name: 'the test service', code: 'recognition_failed', url: server.url, key: undefined },
    ...{ timeoutMs: 5000, firstByteMs: 700, maxAnswerBytes: 1000, clock },
    observer: { circuitChanged: (state) => circuit.push(state) },
  });
  onTestFinished(() => service.close());
  return { clock, server, service, circuit };
}

/** Asks and reads. `asked`: what the request fails with; `read` resolves when so many pieces of the answer were read. */
function asking(service: HttpService): { readonly asked: Promise<unknown>; readonly read: (least: number) => Promise<void> } {
  let count = 0;
  const work = service.ask({ path: '/do', body: '' }, never(), async ({ chunks }) => {
    for await (const _ of chunks) count += 1;
  });
  const asked = work.then(
    () => 'it did not fail',
    (thrown: unknown) => thrown,
  );
  const read = async (least: number): Promise<void> => {
    await until(`${String(least)} pieces were read`, () => count >= least);
    // By now the next one is waited for.
    await flushMicrotasks();
  };
  return { asked, read };
}

describe('a service that says nothing', () => {
  it('is given up within its answer after the same time as before it, counted from the last piece', async () => {
    const { service, server, clock } = await open([stall('begin', 'text/plain'), body('fine', 'text/plain')]);
    const { asked, read } = asking(service);
    await read(1);
    for (const at of [2, 3]) {
      await clock.advanceAsync(699);
      server.received[0]?.response.write(' and');
      await read(at);
    }
    // That of the whole request, and one for the next piece.
    expect(clock.pendingTimers).toBe(2);
    await clock.advanceAsync(700);
    expect(await asked).toMatchObject({ message: 'the test service sent nothing more within 700 ms', details: { outcome: 'timeout' } });
    expect([server.received.length, clock.pendingTimers]).toEqual([1, 0]);
    await until('the service is let go', () => server.received[0]?.isAbandoned === true);
  });

  it('is left alone after five answers in a row that it did not end', async () => {
    const { service, server, clock, circuit } = await open([stall('begin', 'text/plain')]);
    for (const _ of [1, 2, 3, 4, 5]) {
      const { asked, read } = asking(service);
      await read(1);
      await clock.advanceAsync(700);
      await asked;
    }
    expect(await asking(service).asked).toMatchObject({ details: { outcome: 'circuit_open' } });
    expect([server.received.length, circuit]).toEqual([5, ['open']]);
  });

  it('is not what a slow reader makes of it', async () => {
    const { service, server, clock } = await open([stall('begin', 'text/plain')]);
    const ready = new AbortController();
    let taken = '';
    const asked = service.ask({ path: '/do', body: '' }, never(), async (answer) => {
      for await (const chunk of answer.chunks) {
        taken += Buffer.from(chunk).toString();
        if (!ready.signal.aborted) await once(ready.signal, 'abort');
      }
      return taken;
    });
    await until('the beginning is read', () => taken === 'begin');
    await clock.advanceAsync(4000);
    server.received[0]?.response.end(' and end');
    ready.abort();
    expect(await asked).toBe('begin and end');
    expect(clock.pendingTimers).toBe(0);
  });

  it('is one that goes on in another protocol: asked once more, then left alone, and nothing of it stays', async () => {
    const { service, server, clock, circuit } = await open([switching]);
    for (const _ of [1, 2, 3, 4, 5]) {
      const { asked } = asking(service);
      await until('the pause before the second try begins', () => clock.nextTimerInMs === 150);
      await clock.advanceAsync(150);
      expect(await within('the request ends', asked)).toMatchObject({
        ...{ message: 'the test service gave no answer before the connection closed', details: { outcome: 'unreachable' } },
      });
    }
    expect(await asking(service).asked).toMatchObject({ details: { outcome: 'circuit_open' } });
    expect([server.received.length, circuit]).toEqual([10, ['open']]);
    await within('the service is closed', service.close());
    expect(clock.pendingTimers).toBe(0);
  });
});
