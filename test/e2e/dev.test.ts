// What `parley dev` shows of a call, as its page is told over the socket.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../src/base/clock.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import { startDev, type Dev } from '../../src/cli/dev/start-dev.ts';
import type { CallView } from '../../src/dialog/call-view.ts';
import type { CallerVoice } from '../../src/fake-platform/cli/call-access.ts';
import type { Choices, FromPage, PhoneKey, ToPage, WantedCall } from '../../src/fake-platform/softphone/softphone-api.ts';
import { botModule, makeFolder, removeFolder, writeFiles } from '../support/bots-folder.ts';
import { until } from '../support/until.ts';

let voice: CallerVoice;
let dev: Dev;
let folder = '';
beforeAll(async () => {
  folder = await makeFolder({
    'desk.mjs': botModule('desk', `dtmf_input: () => {\n  throw new Error('no such key');\n},`),
  });
  voice = await callerVoice();
  dev = await startDev({
    argv: [`--bots.folder=${folder}`, '--log.level=silent', '--grpc.port=0', '--ops.port=0'],
    ...{ port: 0, voice, clock: systemClock, modelsUrl: undefined, modelScript: undefined },
  });
});
afterAll(async () => {
  await dev.close();
  await voice.close();
  await removeFolder(folder);
});

/** What a person does, one after each prompt: presses a key, and hangs up. */
function pressing(key: PhoneKey): FromPage[] {
  return [{ type: 'press', key }, { type: 'hang_up' }];
}

async function openSocket(): Promise<WebSocket> {
  const { origin, host } = new URL(dev.page);
  const socket = new WebSocket(`ws://${host}/call`, { headers: { origin } });
  await once(socket, 'open');
  return socket;
}

/** A call. @param acts - what the person does. */
async function called(wanted: Partial<WantedCall> = {}, acts = pressing('5')): Promise<CallView> {
  const socket = await openSocket();
  const send = (message: FromPage): void => {
    socket.send(JSON.stringify(message));
  };
  let view: CallView | undefined;
  socket.on('message', (data, isBinary) => {
    if (isBinary || !Buffer.isBuffer(data)) return;
    const message = JSON.parse(data.toString()) as ToPage;
    if (message.type === 'view') view = message.view as CallView;
    const act = message.type === 'event' && message.what === 'prompts_over' ? acts.shift() : undefined;
    if (act !== undefined) send(act);
  });
  send({ ...CALL, ...wanted });
  await once(socket, 'close');
  if (view === undefined) throw new Error('nothing was shown of the call');
  return view;
}

const CALL = { type: 'call', agentId: 'desk', transport: 'grpc', line: 'good' } as const;

function keysOf({ turns }: CallView): readonly (string | undefined)[] {
  return turns.flatMap(({ input }) => (input?.kind === 'keys' ? [input.text] : []));
}

describe('a call from the page of parley dev', () => {
  it.each(['grpc', 'websocket'] as const)(
    'is shown with its messages, the way of its replies, its error and its sound, over %s',
    async (transport) => {
      const { call, turns, messages = [], sound } = await called({ transport });
      expect(call).toMatchObject({ agentId: 'desk', transport });
      const failed = turns.find(({ input }) => input?.kind === 'keys');
      expect(failed?.error).toMatchObject({ message: 'no such key', at: expect.stringMatching(/^desk\.mjs:\d+$/u) as string });
      for (const turn of turns.filter(({ parts }) => parts !== undefined)) {
        expect(turn.parts?.wireMs).toBeGreaterThanOrEqual(0);
        expect(turn.parts?.wireMs).toBeLessThan(1000);
      }
      expect(messages.map(({ name }) => name)).toEqual(expect.arrayContaining(['session_start', 'chunk', 'dtmf', 'session_end']));
      const wav = await fetch(`${dev.page}${sound.bot?.href ?? ''}`);
      expect((await wav.arrayBuffer()).byteLength).toBeGreaterThan(16_000);
    },
  );

  it.each(['grpc', 'websocket'] as const)('goes over every line that the page offers, over %s', async (transport) => {
    const lines = ['jitter', 'bursts', 'noise'] as const;
    const calls = lines.map((line) => called({ transport, line }));
    // Keys are dropped while a reply is still read.
    const slow = called({ transport, line: 'slow reader' }, [{ type: 'hang_up' }]);
    expect((await Promise.all(calls)).map(keysOf)).toEqual(lines.map(() => ['5']));
    expect((await slow).call.end).toBe('caller');
  });

  it('repeats the caller of the call that the page shows, whoever has called since', async () => {
    const calls = await Promise.all([called({}, pressing('6')), called({}, pressing('7'))]);
    const again = await Promise.all(calls.map(({ call }) => called({ again: call.conversationId }, [])));
    expect(again.map(keysOf)).toEqual([['6'], ['7']]);
  });

  it('ends although its page is left before it has begun', async () => {
    const ended = async (): Promise<number> => {
      const metrics = await (await fetch(`http://127.0.0.1:${String(dev.ready.opsPort)}/metrics`)).text();
      return [...metrics.matchAll(/^parley_sessions_ended_total\{.*\} (?<count>\d+)$/gmu)].reduce(
        (sum, { groups }) => sum + Number(groups?.['count']),
        0,
      );
    };
    const before = await ended();
    const socket = await openSocket();
    socket.send(JSON.stringify(CALL));
    socket.terminate();
    await until('the call is over', async () => (await ended()) > before);
  });

  it('meets the bots as they are saved at that moment, and says why they cannot be used', async () => {
    const bot = (text: string): string => botModule('desk', `session_start: () => go(null, say('${text}').listen()),`);
    const greeting = async (): Promise<string | undefined> => (await called({}, [{ type: 'hang_up' }])).turns[0]?.prompts[0]?.text;
    const problem = async (): Promise<string | undefined> => ((await (await fetch(`${dev.page}choices`)).json()) as Choices).problem;
    await writeFiles(folder, { 'desk.mjs': bot('Second.') });
    expect(await greeting()).toBe('Second.');
    await writeFiles(folder, { 'desk.mjs': 'export default bot({' });
    expect(await greeting()).toBe('Second.');
    expect(await problem()).toMatch(/^The changed bots are not used[\s\S]*desk\.mjs/u);
    await removeFolder(folder);
    expect(await greeting()).toBe('Second.');
    expect(await problem()).toContain(folder);
    await writeFiles(folder, { 'desk.mjs': bot('Third.') });
    expect([await greeting(), await problem()]).toEqual(['Third.', undefined]);
  });
});
