// What `parley dev` shows of a call, as its page is told over the socket.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../src/base/clock.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import { startDev, type Dev } from '../../src/cli/dev/start-dev.ts';
import type { CallView } from '../../src/dialog/call-view.ts';
import type { CallerVoice } from '../../src/fake-platform/cli/call-access.ts';
import type { FromPage, ToPage, WantedCall } from '../../src/fake-platform/softphone/softphone-api.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';

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

/** A call on which the person presses a key after the welcome, and hangs up after the answer to it. */
async function called(transport: WantedCall['transport']): Promise<CallView> {
  const { origin, host } = new URL(dev.page);
  const socket = new WebSocket(`ws://${host}/call`, { headers: { origin } });
  const send = (message: FromPage): void => {
    socket.send(JSON.stringify(message));
  };
  const acts: FromPage[] = [{ type: 'press', key: '5' }, { type: 'hang_up' }];
  let view: CallView | undefined;
  socket.on('message', (data, isBinary) => {
    if (isBinary || !Buffer.isBuffer(data)) return;
    const message = JSON.parse(data.toString()) as ToPage;
    if (message.type === 'view') view = message.view as CallView;
    const act = message.type === 'event' && message.what === 'prompts_over' ? acts.shift() : undefined;
    if (act !== undefined) send(act);
  });
  await once(socket, 'open');
  send({ type: 'call', agentId: 'desk', transport, line: 'good', again: false });
  await once(socket, 'close');
  if (view === undefined) throw new Error('nothing was shown of the call');
  return view;
}

describe('a call from the page of parley dev', () => {
  it.each(['grpc', 'websocket'] as const)(
    'is shown with its messages, the way of its replies, its error and its sound, over %s',
    async (transport) => {
      const { call, turns, messages = [], sound } = await called(transport);
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
});
