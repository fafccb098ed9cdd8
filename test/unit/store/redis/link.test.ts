// A link over clients that do what the test says, at the times it says: what a real server does is in connection.test.ts.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { RedisLink } from '../../../../src/store/redis/link.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { FakeRedisClient, isRefusal, Refusal } from '../../../support/fake-redis-client.ts';

const TIMEOUT_MS = 1000;

interface Bench {
  readonly clock: FakeClock;
  readonly clients: FakeRedisClient[];
  readonly link: RedisLink;
  /** `up`, or the reason why it went or stayed down. */
  readonly told: string[];
  /** The client that was made last. */
  last(): FakeRedisClient;
}

function bench(random = 1): Bench {
  const clock = new FakeClock();
  const clients: FakeRedisClient[] = [];
  const told: string[] = [];
  const link = new RedisLink({
    createClient: () => {
      const client = new FakeRedisClient();
      clients.push(client);
      return client;
    },
    isRefusal,
    timeoutMs: TIMEOUT_MS,
    clock,
    random: () => random,
    onUp: () => told.push('up'),
    onDown: ({ details }: AppError) => told.push(String(details['reason'])),
  });
  const last = (): FakeRedisClient => {
    const client = clients.at(-1);
    if (client === undefined) throw new Error('no client was made');
    return client;
  };
  return { clock, clients, link, told, last };
}

/** A link that is up. */
async function upBench(): Promise<Bench> {
  const made = bench();
  made.last().accept();
  await flushMicrotasks();
  expect(made.link.isUp).toBe(true);
  return made;
}

function reason(thrown: unknown): unknown {
  return thrown instanceof AppError ? thrown.details['reason'] : thrown;
}

/** Lets timers of `ms` fire, and what they leave to the next turn of the event loop. */
async function pass({ clock }: Bench, ms: number): Promise<void> {
  await clock.advanceAsync(ms);
  await flushMicrotasks();
}

describe('a link that finds nobody', () => {
  it('tries for ever, after pauses that double up to two seconds', async () => {
    const made = bench();
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 30; attempt += 1) {
      made.last().emit('error', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
      await flushMicrotasks();
      pauses.push(made.clock.nextTimerInMs ?? NaN);
      await pass(made, pauses.at(-1) ?? 0);
      expect(made.clients).toHaveLength(attempt + 2);
    }
    expect(pauses.slice(0, 9)).toEqual([20, 40, 80, 160, 320, 640, 1280, 2000, 2000]);
    expect(new Set(pauses.slice(8))).toEqual(new Set([2000]));
    expect(new Set(made.told)).toEqual(new Set(['ECONNREFUSED']));
    // What is gone is destroyed, and the one that is being tried is not.
    expect(made.clients.map(({ destroyed }) => destroyed)).toEqual([...Array.from({ length: 30 }, () => 1), 0]);
  });

  it('draws its pauses, so that many do not come back at once', async () => {
    const made = bench(0);
    made.last().emit('error', new Error('gone'));
    await flushMicrotasks();
    expect(made.clock.nextTimerInMs).toBe(10);
  });

  it('gives up a server that takes the connection and says nothing', async () => {
    const made = bench();
    made.last().emit('connect');
    await pass(made, TIMEOUT_MS);
    expect(made.told).toEqual(['timeout']);
    expect(made.last().destroyed).toBe(1);
    await pass(made, 20);
    expect(made.clients).toHaveLength(2);
  });

  it('gives up a server that lets it in and answers nothing', async () => {
    const made = bench();
    made.last().answer = undefined;
    made.last().accept();
    await pass(made, TIMEOUT_MS);
    expect(made.told).toEqual(['timeout']);
    expect(made.link.isUp).toBe(false);
  });

  it('destroys a connection that comes about after it was given up, as soon as it does', async () => {
    const made = bench();
    const late = made.last();
    await pass(made, TIMEOUT_MS);
    expect(late.destroyed).toBe(0);
    late.emit('connect');
    expect(late.destroyed).toBe(1);
    late.emit('ready');
    await flushMicrotasks();
    expect(made.link.isUp).toBe(false);
  });

  it.each([
    ['loads its data', 'PING', new Refusal('LOADING Redis is loading the dataset in memory'), 'LOADING'],
    ['wants a password', 'PING', new Refusal('NOAUTH Authentication required.'), 'NOAUTH'],
    ['is a replica', 'ROLE', ['slave', '127.0.0.1', 6379, 'connect', -1], 'READONLY'],
  ])('goes on while the server %s', async (_, asked, answer, reason) => {
    const made = bench();
    made.last().answer = (command) => (command === asked ? answer : 'OK');
    made.last().accept();
    await flushMicrotasks();
    expect([made.told, made.link.isUp, made.last().destroyed]).toEqual([[reason], false, 1]);
    await pass(made, 20);
    made.last().accept();
    await flushMicrotasks();
    expect(made.link.isUp).toBe(true);
  });

  it('takes a server that does not let it ask for its role', async () => {
    const made = bench();
    made.last().answer = (command) =>
      command === 'ROLE' ? new Refusal("NOPERM this user has no permissions to run the 'role' command") : 'OK';
    made.last().accept();
    await flushMicrotasks();
    expect(made.link.isUp).toBe(true);
  });
});

describe('a command over a link', () => {
  it('waits for a connection that has only just been lost', async () => {
    const made = await upBench();
    made.last().emit('error', new Error('gone'));
    const sent = made.link.send(['GET', 'x']);
    await pass(made, 20);
    made.last().accept();
    expect(await sent).toBe('OK');
    expect(made.told).toEqual(['up', 'Error', 'up']);
  });

  it('fails within the limit when no connection comes, and at once when there has been none for long, and says why', async () => {
    const made = await upBench();
    made.last().emit('error', new Error('gone'));
    await pass(made, 400);
    const failure = expect(made.link.send(['GET', 'x'])).rejects.toMatchObject({ code: 'store_unavailable', details: { reason: 'Error' } });
    await pass(made, TIMEOUT_MS - 400);
    await failure;
    await expect(made.link.send(['GET', 'x'])).rejects.toMatchObject({ code: 'store_unavailable', details: { reason: 'Error' } });
  });

  it('fails when so many wait already, instead of waiting with them', async () => {
    const made = await upBench();
    made.last().emit('error', new Error('gone'));
    const waiting = Array.from({ length: 5000 }, () => made.link.send(['GET', 'x']).catch(reason));
    await expect(made.link.send(['GET', 'x'])).rejects.toMatchObject({ details: { reason: 'busy' } });
    await made.link.close();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['away']));
    expect(made.clock.pendingTimers).toBe(0);
  });

  it('fails when so many wait for answers already', async () => {
    const made = await upBench();
    made.last().answer = undefined;
    const waiting = Array.from({ length: 5000 }, () => made.link.send(['GET', 'x']).catch(reason));
    await expect(made.link.send(['GET', 'x'])).rejects.toMatchObject({ details: { reason: 'busy' } });
    await pass(made, TIMEOUT_MS);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['timeout']));
  });

  it('gives the server up when it is not answered in time, and never repeats it', async () => {
    const made = await upBench();
    const silent = made.last();
    silent.answer = undefined;
    const failure = expect(made.link.send(['INCR', 'x'])).rejects.toMatchObject({ details: { reason: 'timeout' } });
    await pass(made, TIMEOUT_MS);
    await failure;
    expect([made.link.isUp, silent.destroyed]).toEqual([false, 1]);
    await pass(made, 20);
    made.last().accept();
    await flushMicrotasks();
    expect(made.last().sent).toEqual(['ROLE', 'PING']);
  });

  it('hears an answer that came in the same moment as its deadline', async () => {
    const made = await upBench();
    let answer: (value: string) => void = () => undefined;
    made.last().answer = () => new Promise<string>((resolve) => (answer = resolve));
    const sent = made.link.send(['GET', 'x']);
    await flushMicrotasks();
    made.clock.advance(TIMEOUT_MS);
    answer('late, but there');
    expect(await sent).toBe('late, but there');
    await flushMicrotasks();
    expect(made.link.isUp).toBe(true);
  });

  it.each([
    'READONLY You can’t write against a read only replica.',
    'ERR Error running script (call to f_1): @user_script:1: -READONLY You can’t write against a read only replica.',
    'MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to no.',
  ])('leaves a server that says %s', async (message) => {
    const made = await upBench();
    made.last().answer = () => new Refusal(message);
    await expect(made.link.send(['SET', 'x', 'y'])).rejects.toMatchObject({ code: 'store_unavailable', details: { isRefused: true } });
    expect([made.link.isUp, made.last().destroyed]).toEqual([false, 1]);
  });

  it('stays with a server that says no to it alone, and repeats none of its words but the first', async () => {
    const made = await upBench();
    made.last().answer = () => new Refusal("ERR unknown command 'HELLO', with args beginning with: 'PASSWORD-CANARY'");
    const failure: unknown = await made.link.send(['HELLO']).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'store_unavailable', details: { reason: 'ERR' } });
    expect(JSON.stringify([failure, String(failure), (failure as Error).cause])).not.toContain('CANARY');
    expect(made.link.isUp).toBe(true);
  });
});

describe('a link that nobody uses', () => {
  it('finds out by itself that the server hangs', async () => {
    const made = await upBench();
    made.last().answer = undefined;
    await pass(made, 5000);
    await pass(made, TIMEOUT_MS);
    expect(made.told).toEqual(['up', 'timeout']);
  });

  it('finds out by itself that the server became a replica', async () => {
    const made = await upBench();
    made.last().answer = (command) => (command === 'ROLE' ? ['slave'] : 'PONG');
    await pass(made, 5000);
    expect(made.told).toEqual(['up', 'READONLY']);
  });

  it('pauses longer and longer for a server that lets it in and throws it out', async () => {
    const made = bench();
    const pauses: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      made.last().accept();
      await flushMicrotasks();
      made.last().emit('error', new Error('thrown out'));
      pauses.push(made.clock.nextTimerInMs ?? NaN);
      await pass(made, pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([20, 40, 80, 160]);
    made.last().accept();
    await pass(made, 6000);
    made.last().emit('error', new Error('gone'));
    expect(made.clock.nextTimerInMs).toBe(20);
  });
});

describe('closing a link', () => {
  it.each([
    [
      'while it is up',
      (made: Bench) => {
        made.last().accept();
      },
    ],
    [
      'while it pauses',
      (made: Bench) => {
        made.last().emit('error', new Error('gone'));
      },
    ],
    [
      'while the server is silent',
      (made: Bench) => {
        made.last().emit('connect');
      },
    ],
  ])('leaves no timer and no client %s', async (_, bring) => {
    const made = bench();
    bring(made);
    await flushMicrotasks();
    const told = [...made.told];
    await made.link.close();
    expect([made.clock.pendingTimers, made.link.isUp]).toEqual([0, false]);
    expect(made.last().destroyed).toBeGreaterThan(0);
    await expect(made.link.send(['GET', 'x'])).rejects.toMatchObject({ details: { reason: 'away' } });
    expect(made.clients).toHaveLength(1);
    expect(made.told).toEqual(told);
  });

  it('waits for a connection that is being made, but not for ever', async () => {
    const made = bench();
    const closed = made.link.close();
    await pass(made, TIMEOUT_MS);
    await closed;
    expect(made.clock.pendingTimers).toBe(0);
  });
});
