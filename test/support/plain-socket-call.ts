// A call over a socket with a bot that does nothing special, and what must be left of it when it was refused.
import { expect } from 'vitest';
import { bot, go, say } from '../../src/bot/index.ts';
import { socketBench, type PlatformSocket, type SocketBench } from './call-socket.ts';
import { flushMicrotasks } from './fake-clock.ts';
import { slowToEnd } from './stuck-bot.ts';

/** Greets, names the keys that were pressed, and ends the call at a 9. */
export const plain = bot<null>({
  id: 'plain',
  name: 'Plain',
  version: 1,
  session_start: () => go(null, say('Welcome.').listen()),
  dtmf_input: (_, { digits }) => go(null, digits === '9' ? say('Bye.').end('done') : say(`You pressed ${digits}.`).listen()),
  otherwise: () => go(null, say('What?').listen()),
});
/** Another agent of the same organization. */
export const second = bot<null>({
  id: 'second',
  name: 'Second',
  version: 1,
  session_start: () => go(null, say('Hello.').listen()),
  otherwise: () => go(null, say('?').listen()),
});

/**
 * A call that begins anew on a second socket, whose session is not there yet: the bot is still notified of the end of the first one.
 *
 * @returns the second socket, and what lets its session be made.
 */
export async function openingAnew(
  options: Parameters<typeof socketBench>[1] = {},
): Promise<SocketBench & { readonly platform: PlatformSocket; readonly made: () => Promise<void> }> {
  const { slow, open } = slowToEnd();
  const bench = await socketBench([slow], options);
  const first = bench.open();
  await first.start();
  const platform = bench.open();
  await platform.start();
  expect(platform.socket.said).toEqual([]);
  first.call.closed();
  const made = async (): Promise<void> => {
    open();
    await flushMicrotasks();
  };
  return { ...bench, platform, made };
}

/** What the operator of a server cannot read fails so: nothing but a defect. */
export function unreadableLoad(error: Error): Parameters<typeof socketBench>[1] {
  const load = {
    get loopDelayMs(): number {
      throw error;
    },
    rssBytes: 0,
    heapPercent: 0,
  };
  return { load, limits: { maxLoopDelayMs: 1 } };
}

/** A call whose welcome was said. */
export async function started(
  options: Parameters<typeof socketBench>[1] = {},
): Promise<SocketBench & { readonly platform: PlatformSocket }> {
  const bench = await socketBench([plain, second], options);
  const platform = bench.open();
  await platform.start();
  expect(platform.socket.said).toEqual(['CHUNK', 'FINAL']);
  platform.socket.sent.length = 0;
  return { ...bench, platform };
}

/** The socket was refused, and nothing of its call is left. */
export async function expectRefused(
  { refused, clock, sessions, listeners }: SocketBench,
  { socket, call }: PlatformSocket,
  said: string,
  code: number,
): Promise<void> {
  expect(socket.said.at(-1)).toBe(said);
  expect(socket.closedWith?.code).toBe(code);
  expect(refused).toHaveLength(1);
  expect(socket.late).toEqual([]);
  call.closed();
  await flushMicrotasks();
  expect([clock.pendingTimers - 1, sessions.openTurns, sessions.size, listeners.size]).toEqual([0, 0, 0, 0]);
}
