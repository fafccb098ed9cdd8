// When a bot is woken: by a time of silence, and by what comes from outside. The platform's report of no input is the chance for both.
import { describe, expect, it } from 'vitest';
import { bot, go, listen, say, type Bot, type ListenOptions, type LiveContext } from '../../../src/bot/index.ts';
import { snapshotOf, testEngine, TEST_SETTINGS } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { begun, homes, moved } from '../../support/homes.ts';
import { MemoryCall, type MemorySink } from '../../support/memory-transport.ts';

type Wake = LiveContext<unknown>['wake'];
const NO_INPUT = { kind: 'no_input' } as const;

interface Waking {
  readonly bot: Bot;
  readonly events: string[];
  readonly wake: Wake;
}

/** A bot that listens as it is told and is woken in silence; a wake named `say` makes it speak, and key 1 makes it wait for `goOn`. */
function waking(options: ListenOptions, { isWoken = true, hasCustom = false } = {}): Waking {
  const events: string[] = [];
  let wake: Wake = () => undefined;
  const subject = bot<null, { readonly wake: Wake }>({
    id: 'waking',
    name: 'Waking',
    version: 1,
    live: {
      open: (context) => {
        wake = (name, data) => {
          context.wake(name, data);
        };
        return context;
      },
    },
    session_start: () => go(null, say('Hi.').listen(options)),
    ...(isWoken && {
      woken: (_state, { name, data, silentMs }) => {
        events.push(`${name} ${JSON.stringify(data)} ${String(silentMs)}`);
        return go(null, name === 'say' ? say(typeof data === 'string' ? data : '').listen(options) : listen(options));
      },
    }),
    ...(hasCustom && { custom_event: () => go(null, say('An event.').listen(options)) }),
    otherwise: (_state, event) => {
      events.push(event.type === 'no_input' ? `no_input ${String(event.count)}` : event.type);
      return go(null, say('Hello?').listen(options));
    },
  });
  return {
    bot: subject,
    events,
    wake: (name, data) => {
      wake(name, data);
    },
  };
}

async function calling(subject: Bot, opening: ConstructorParameters<typeof MemoryCall>[1] = {}) {
  const engine = await testEngine([subject]);
  const call = new MemoryCall(engine.sessions, opening);
  const welcome = await call.start();
  await engine.clock.advanceAsync(30);
  return { ...engine, call, welcome };
}

function noInputMs({ next }: MemorySink): number | undefined {
  return next !== undefined && 'noInputMs' in next ? next.noInputMs : undefined;
}

describe('a bot that is woken in silence', () => {
  it('has the report of no input at the smaller time, which does not count as one, and the rest of the time goes on', async () => {
    const { bot: subject, events } = waking({ wakeMs: 3000 });
    const { call, welcome } = await calling(subject);
    const finals = [welcome];
    for (let report = 0; report < 6; report += 1) finals.push(await call.turn(NO_INPUT));
    expect(finals.map(noInputMs)).toEqual([3000, 3000, 3000, 1000, 3000, 3000, 3000]);
    expect(events).toEqual(['timer null 3000', 'timer null 6000', 'timer null 9000', 'no_input 1', 'timer null 3000', 'timer null 6000']);
    expect(finals.map(({ texts }) => texts.length)).toEqual([1, 0, 0, 0, 1, 0, 0]);
  });

  it('keeps the count of silences, which it neither raises nor ends', async () => {
    const { bot: subject, events } = waking({ wakeMs: 6000, noInputMs: 10_000 });
    const { call } = await calling(subject);
    for (let report = 0; report < 4; report += 1) await call.turn(NO_INPUT);
    expect(events).toEqual(['timer null 6000', 'no_input 1', 'timer null 6000', 'no_input 2']);
  });

  it('starts anew when it speaks, and when the caller does', async () => {
    const { bot: subject, wake } = waking({ wakeMs: 3000 });
    const { call } = await calling(subject);
    expect(noInputMs(await call.turn(NO_INPUT))).toBe(3000);
    await call.turn(NO_INPUT);
    wake('say', 'Still here.');
    expect(noInputMs(await call.turn(NO_INPUT))).toBe(3000);
    await call.press('5');
    await call.turn(NO_INPUT);
    await call.turn(NO_INPUT);
    expect(noInputMs(await call.turn(NO_INPUT))).toBe(1000);
  });

  it('is woken also where silence is never reported (G-82), and not at all when the report comes first', async () => {
    const never = waking({ wakeMs: 3000, noInputMs: 0 });
    const { call, welcome } = await calling(never.bot);
    expect(noInputMs(welcome)).toBe(3000);
    for (let report = 0; report < 5; report += 1) await call.turn(NO_INPUT);
    expect(never.events.at(-1)).toBe('timer null 15000');
    const later = waking({ wakeMs: 12_000 });
    const { call: other, welcome: first } = await calling(later.bot);
    expect(noInputMs(first)).toBe(10_000);
    await other.turn(NO_INPUT);
    expect(later.events).toEqual(['no_input 1']);
  });

  it('is not woken too early by a platform that takes its own time', async () => {
    const slow = waking({ wakeMs: 6000 });
    const { call, clock } = await calling(slow.bot, { isTied: true });
    await clock.advanceAsync(5000);
    await call.turn(NO_INPUT);
    // The prompt takes 60 ms.
    await clock.advanceAsync(6060);
    await call.turn(NO_INPUT);
    expect(slow.events).toEqual(['no_input 1', 'timer null 6000']);
  });

  it('does not know of it without a handler', async () => {
    const plain = waking({ wakeMs: 3000 }, { isWoken: false });
    const { call, welcome } = await calling(plain.bot);
    plain.wake('say', 'Hello');
    expect(noInputMs(welcome)).toBe(TEST_SETTINGS.listen.noInputMs);
    await call.turn(NO_INPUT);
    expect(plain.events).toEqual(['no_input 1']);
  });
});

describe('what comes from outside', () => {
  it('is told with the next report of no input, one after the other, and the silence is not forgotten', async () => {
    const { bot: subject, events, wake } = waking({});
    const { call } = await calling(subject);
    wake('first');
    wake('second', { a: 1 });
    wake('first', 'newer');
    const finals = [await call.turn(NO_INPUT), await call.turn(NO_INPUT), await call.turn(NO_INPUT)];
    expect(events).toEqual(['first "newer" 10000', 'second {"a":1} 10100', 'no_input 1']);
    expect(finals.map(noInputMs)).toEqual([100, 100, 10_000]);
  });

  it.each([true, false])('waits behind a custom event, whether the bot has a handler for it: %s', async (hasCustom) => {
    const { bot: subject, wake } = waking({}, { hasCustom });
    const { call } = await calling(subject);
    wake('say', 'News.');
    const event = { kind: 'custom_event', name: 'tick', parameters: {} } as const;
    expect((await call.turn(event)).texts).toEqual([hasCustom ? 'An event.' : 'Hello?']);
    expect((await call.turn(NO_INPUT)).texts).toEqual(['News.']);
  });

  it('is never told in place of what the caller does', async () => {
    const { bot: subject, events, wake } = waking({});
    const { call } = await calling(subject);
    wake('first');
    await call.press('1');
    expect(events).toEqual(['dtmf_input']);
  });

  it('waits eight at a time, under names and with data that can travel', async () => {
    const { bot: subject, wake } = waking({});
    const { log, sessions } = await calling(subject);
    for (let each = 1; each <= 9; each += 1) wake(`w${String(each)}`);
    expect((await snapshotOf({ sessions }))?.wakes?.map(({ name }) => name)).toEqual(['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8']);
    expect(log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'more wakes wait than a call may have; the newest is dropped',
    ]);
    for (const name of ['', 'timer', 'x'.repeat(101)])
      expect(() => {
        wake(name);
      }).toThrow(TypeError);
    expect(() => {
      wake('large', 'x'.repeat(2000));
    }).toThrow('2000 characters');
  });

  it('is told again when its handler was interrupted before it answered', async () => {
    const told: string[] = [];
    let live: LiveContext<null> | undefined;
    const slow = bot<null, null>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      live: { open: (context) => ((live = context), null) },
      session_start: () => go(null, say('Hi.').listen()),
      woken: async (_state, { data }) => {
        told.push(JSON.stringify(data));
        if (told.length === 1) await new Promise(() => undefined);
        return go(null, say('News.').listen());
      },
      otherwise: () => go(null, say('Hello?').listen()),
    });
    const { call, clock } = await calling(slow);
    live?.wake('news', 1);
    await call.open(NO_INPUT);
    live?.wake('news', 2);
    const keys = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(400);
    expect(keys.sink.texts).toEqual(['Hello?']);
    expect((await call.turn(NO_INPUT)).texts).toEqual(['News.']);
    expect(told).toEqual(['1', '2']);
    expect((await call.turn(NO_INPUT)).texts).toEqual(['Hello?']);
  });

  it('moves with the call, and so does the silence', async () => {
    const { bot: subject, events, wake } = waking({ wakeMs: 3000 });
    const all = await homes({}, [1, 1], subject);
    await begun(all);
    const here = new MemoryCall(all.a.sessions);
    await here.turn(NO_INPUT);
    wake('news', 'moved');
    await flushMicrotasks();
    await moved(all);
    const there = all.next();
    expect(noInputMs(await there.turn(NO_INPUT))).toBe(3000);
    await new MemoryCall(all.b.sessions).turn(NO_INPUT);
    expect(noInputMs(await new MemoryCall(all.b.sessions).turn(NO_INPUT))).toBe(3000);
    expect(events).toEqual(['timer null 3000', 'news "moved" 6000', 'timer null 9000', 'no_input 1']);
  });
});
