import { afterEach, describe, expect, it } from 'vitest';
import { Inbox, type AuthorizationHandler, type InboxOptions } from '../../../../src/admin/webhooks/inbox.ts';
import type { ServiceAppEvent } from '../../../../src/admin/webhooks/delivery.ts';
import { RestError } from '../../../../src/admin/rest/rest-error.ts';
import { RequestFailure } from '../../../../src/base/http-exchange.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { until } from '../../../support/until.ts';

const DAY = 24 * 3_600_000;
const event = (name: ServiceAppEvent['event'], authorizedAtMs = DAY, organizationId = 'org'): ServiceAppEvent => ({
  event: name,
  organizationId,
  authorizerOrgId: `encoded ${organizationId}`,
  authorizedAtMs,
  idempotencyKey: `${organizationId} ${name} ${String(authorizedAtMs)}`,
});

/** A store that outlives inboxes, and a handler whose work the test ends. */
class World {
  readonly clock = new FakeClock();
  readonly texts = new Map<string, string>();
  readonly done: string[] = [];
  readonly told: string[] = [];
  readonly failed: string[] = [];
  /** What runs now: resolve or reject it. */
  readonly running: { readonly what: string; readonly end: (error?: Error) => void }[] = [];
  /** Work ends by itself. */
  isQuick = true;
  readonly opened: Inbox[] = [];

  async inbox(): Promise<Inbox> {
    const handle =
      (name: string): AuthorizationHandler['authorized'] =>
      ({ organizationId }, signal) =>
        new Promise((resolve, reject) => {
          const what = `${name} ${organizationId}`;
          const end = (error?: Error): void => {
            if (error === undefined && !signal.aborted) this.done.push(what);
            if (error === undefined) resolve();
            else reject(error);
          };
          signal.addEventListener('abort', () => {
            reject(new Error('aborted'));
          });
          if (this.isQuick) end();
          else this.running.push({ what, end });
        });
    const options: InboxOptions = {
      store: {
        get: (key) => Promise.resolve(this.texts.get(key)),
        set: (key, value) => Promise.resolve(void this.texts.set(key, value)),
        delete: (key) => Promise.resolve(void this.texts.delete(key)),
        keys: (prefix) => Promise.resolve([...this.texts.keys()].filter((key) => key.startsWith(prefix))),
      },
      handler: { authorized: handle('authorized'), deauthorized: handle('deauthorized') },
      clock: this.clock,
      onDone: ({ organizationId, event }) => this.told.push(`${event} ${organizationId}`),
      onFailed: (organizationId, name, { code }) => this.failed.push(`${name} ${organizationId} ${code}`),
    };
    const inbox = await Inbox.open(options);
    this.opened.push(inbox);
    return inbox;
  }
}

let world = new World();
afterEach(async () => {
  await Promise.all(world.opened.map((inbox) => inbox.close()));
  expect(world.clock.pendingTimers).toBe(0);
  world = new World();
});

function ordersOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  if (all.length === 0) return [[]];
  return all.flatMap((first, at) => ordersOf(all.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

const becomes = (what: string, isSo: () => boolean): Promise<void> => until(() => `${what}; done: ${world.done.join(', ')}`, isSo);

describe('events of the service app', () => {
  it('have their effect in order, each organization for itself', async () => {
    const inbox = await world.inbox();
    expect(await inbox.receive(event('authorized'))).toBe('taken');
    expect(await inbox.receive(event('authorized', DAY, 'other'))).toBe('taken');
    await becomes('both are done', () => world.done.length === 2);
    expect(await inbox.receive(event('deauthorized'))).toBe('taken');
    await becomes('the third is done', () => world.done.length === 3);
    expect(world.done).toEqual(['authorized org', 'authorized other', 'deauthorized org']);
    expect(inbox.authorized).toEqual([{ organizationId: 'other', authorizerOrgId: 'encoded other' }]);
  });

  it('H-22 have it once, however often they are delivered, also after a restart', async () => {
    const inbox = await world.inbox();
    await inbox.receive(event('authorized'));
    expect(await inbox.receive(event('authorized'))).toBe('known');
    await becomes('it is done', () => world.done.length === 1);
    await inbox.close();
    const again = await world.inbox();
    expect(await again.receive(event('authorized'))).toBe('known');
    expect(await again.receive(event('deauthorized'))).toBe('taken');
    expect(await again.receive(event('authorized'))).toBe('known');
    await becomes('the end is done', () => world.done.length === 2);
    expect(again.authorized).toEqual([]);
  });

  it('H-23 stop the work on an authorization that has been taken back, and it does not come back', async () => {
    world.isQuick = false;
    const inbox = await world.inbox();
    await inbox.receive(event('authorized'));
    expect(world.running.map(({ what }) => what)).toEqual(['authorized org']);
    await inbox.receive(event('deauthorized'));
    // The work ends well all the same, but too late.
    world.running[0]?.end();
    await becomes('the other begins', () => world.running.length === 2);
    world.running[1]?.end();
    await becomes('it is done', () => world.done.length === 1);
    expect(world.done).toEqual(['deauthorized org']);
    expect(inbox.authorized).toEqual([]);
    expect(world.failed).toEqual([]);
  });

  it.each([
    ['an authorization that was ended before it arrived', event('deauthorized', DAY), event('authorized', DAY)],
    ['an older authorization', event('deauthorized', DAY), event('authorized', DAY - 1)],
    ['the end of an authorization before this one', event('authorized', DAY), event('deauthorized', DAY - 1)],
    ['the authorization before this one', event('authorized', DAY), event('authorized', DAY - 1)],
    ['the end of an authorization before the last end', event('deauthorized', DAY), event('deauthorized', DAY - 1)],
  ])('H-23 change nothing when they come too late: %s', async (_, newest, late) => {
    const inbox = await world.inbox();
    await inbox.receive(newest);
    await becomes('it is done', () => world.done.length === 1);
    const before = inbox.authorized;
    expect(await inbox.receive(late)).toBe('outdated');
    expect(await inbox.receive(late)).toBe('known');
    expect(inbox.authorized).toEqual(before);
    expect(world.done).toHaveLength(1);
  });

  const HISTORY = [event('authorized', DAY), event('deauthorized', DAY), event('authorized', 2 * DAY), event('deauthorized', 2 * DAY)];
  it.each([1, 2, 3, 4])('H-23 leave what the newest of %i says, in whatever order they come', async (length) => {
    const happened = HISTORY.slice(0, length);
    for (const order of ordersOf(happened)) {
      world.texts.clear();
      world.done.length = 0;
      const inbox = await world.inbox();
      for (const one of order) await inbox.receive(one);
      await inbox.close();
      const again = await world.inbox();
      await again.close();
      const said = order.map(({ event: name, authorizedAtMs }) => `${name} ${String(authorizedAtMs / DAY)}`).join(', ');
      const last = happened.at(-1)?.event;
      expect([said, again.authorized.length, world.done.at(-1)]).toEqual([said, last === 'authorized' ? 1 : 0, `${String(last)} org`]);
    }
  });

  it('an organization can authorize again', async () => {
    const inbox = await world.inbox();
    await inbox.receive(event('authorized', DAY));
    await inbox.receive(event('deauthorized', DAY));
    await inbox.receive(event('authorized', 2 * DAY));
    await becomes('the last is done', () => world.done.at(-1) === 'authorized org');
    expect(inbox.authorized).toHaveLength(1);
  });

  it('are reported once they had their effect, and not when another one has overtaken them', async () => {
    world.isQuick = false;
    const inbox = await world.inbox();
    await inbox.receive(event('authorized'));
    await becomes('it is worked on', () => world.running.length === 1);
    await inbox.receive(event('deauthorized'));
    await becomes('what overtook it is worked on', () => world.running.length === 2);
    expect(world.told).toEqual([]);
    world.running.at(-1)?.end();
    await becomes('it is told of', () => world.told.length === 1);
    expect(world.told).toEqual(['deauthorized org']);
  });

  it('H-26 are tried again until they have their effect, with longer and longer pauses', async () => {
    world.isQuick = false;
    const inbox = await world.inbox();
    await inbox.receive(event('authorized'));
    for (const pauseMs of [2000, 4000, 8000]) {
      world.running.at(-1)?.end(new Error('not yet'));
      await becomes('the pause begins', () => world.clock.nextTimerInMs === pauseMs);
      const tries = world.running.length;
      world.clock.advance(pauseMs);
      await becomes('it is tried again', () => world.running.length === tries + 1);
    }
    world.running.at(-1)?.end();
    await becomes('it is done', () => world.done.length === 1);
    expect(world.failed).toEqual(Array.from({ length: 3 }, () => 'authorized org internal'));
  });

  it('R-11 are not tried again before the time that the platform named', async () => {
    world.isQuick = false;
    const inbox = await world.inbox();
    await inbox.receive(event('authorized'));
    const failure = new RequestFailure('rate_limited', 'answered 429', { status: 429, retryAfterMs: 90_000 });
    const words = { message: undefined, trackingId: undefined };
    world.running.shift()?.end(new RestError('platform_unavailable', 'POST /things', failure, words, false));
    await becomes('it has failed', () => world.failed.length === 1);
    await world.clock.advanceAsync(89_999);
    expect(world.running).toEqual([]);
    await world.clock.advanceAsync(1);
    expect(world.running).toHaveLength(1);
  });

  it('are gone on with after a restart when they had no effect yet', async () => {
    world.isQuick = false;
    const inbox = await world.inbox();
    await inbox.receive(event('authorized'));
    await inbox.close();
    expect(world.done).toEqual([]);
    world.isQuick = true;
    await world.inbox();
    await becomes('it is done', () => world.done.length === 1);
    expect(world.done).toEqual(['authorized org']);
  });

  it('are not taken when they cannot be kept', async () => {
    const inbox = await world.inbox();
    world.texts.set = () => {
      throw new Error('disk full');
    };
    await expect(Promise.resolve().then(() => inbox.receive(event('authorized')))).rejects.toThrow('disk full');
    expect(world.done).toEqual([]);
  });

  it.each([
    ['delivered again', true],
    ['never delivered again', false],
  ])(
    'H-24 of an authorization that could not be kept have their effect once the disk has recovered, also when it is %s',
    async (_, again) => {
      const inbox = await world.inbox();
      world.texts.set = () => {
        throw new Error('disk full');
      };
      await expect(Promise.resolve().then(() => inbox.receive(event('authorized')))).rejects.toThrow('disk full');
      await world.clock.advanceAsync(60_000);
      // Nobody is let in whose authorization a restart would not know.
      expect([world.done, world.texts.size]).toEqual([[], 0]);
      Reflect.deleteProperty(world.texts, 'set');
      if (again) expect(await inbox.receive(event('authorized'))).toBe('known');
      await world.clock.advanceAsync(600_000);
      expect(world.done).toEqual(['authorized org']);
      await inbox.close();
      expect((await world.inbox()).authorized).toHaveLength(1);
      expect(world.done).toHaveLength(1);
    },
  );

  it('H-23 of an authorization that could not be kept have none when it is taken back meanwhile', async () => {
    const inbox = await world.inbox();
    world.texts.set = () => {
      throw new Error('disk full');
    };
    for (const one of [event('authorized'), event('deauthorized')]) {
      await expect(Promise.resolve().then(() => inbox.receive(one))).rejects.toThrow('disk full');
    }
    Reflect.deleteProperty(world.texts, 'set');
    await world.clock.advanceAsync(600_000);
    expect([world.done, inbox.authorized]).toEqual([['deauthorized org'], []]);
  });

  it.each([
    ['and when it is delivered again', true],
    ['and for ever, although it is never delivered again', false],
  ])('H-24 of a deauthorization that cannot be kept have their effect at once, %s', async (_, isDeliveredAgain) => {
    const inbox = await world.inbox();
    await inbox.receive(event('authorized'));
    await becomes('the first is done', () => world.done.length === 1);
    world.texts.set = () => {
      throw new Error('disk full');
    };
    const left = event('deauthorized');
    await expect(Promise.resolve().then(() => inbox.receive(left))).rejects.toThrow('disk full');
    await becomes('it is done', () => world.done.length === 2);
    expect([world.done, inbox.authorized]).toEqual([['authorized org', 'deauthorized org'], []]);
    // Not acknowledged either while the disk is full.
    await expect(Promise.resolve().then(() => inbox.receive(left))).rejects.toThrow('disk full');
    Reflect.deleteProperty(world.texts, 'set');
    if (isDeliveredAgain) expect(await inbox.receive(left)).toBe('known');
    await world.clock.advanceAsync(600_000);
    expect(world.done).toEqual(['authorized org', 'deauthorized org']);
    await inbox.close();
    expect((await world.inbox()).authorized).toEqual([]);
    expect(world.done).toHaveLength(2);
  });
});
