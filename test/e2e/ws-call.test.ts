// A whole call over WebSocket on the real server, message by message.
import { expect, it, onTestFinished } from 'vitest';
import { dataSource, RunningServer } from '../support/running-server.ts';
import { SocketCaller, socketDataSource, socketKeys, socketEvent, WITH_SOCKETS } from '../support/socket-peer.ts';

it('W-08 one socket carries a call from its start to its end, with the same bot as over gRPC', async () => {
  const server = await RunningServer.start({
    dataSources: (issuer) => [dataSource(issuer), socketDataSource(issuer)],
    flags: [...WITH_SOCKETS, '--bots.default_bot=code-line', '--media.reveal_prompt_text=true'],
  });
  onTestFinished(() => server.close());
  const caller = await SocketCaller.start(server);
  expect(await caller.replied(1)).toMatchObject({
    prompts: [{ audio_content_b64: '' }],
    input_handling_config: { dtmf_config: { dtmf_input_length: 4 } },
  });
  caller.say(socketEvent('START_OF_DTMF'));
  caller.say(socketKeys('FOUR', 'SEVEN', 'ONE', 'ONE'));
  await caller.replied(2);
  expect(server.app.openSessions()).toBe(1);
  caller.say(socketKeys('ONE'));
  expect(await caller.replied(3)).toMatchObject({ output_events: [{ event_type: 'SESSION_END' }] });
  caller.peer.socket.close(1000);
  expect(await caller.peer.closed()).toMatchObject({ code: 1000 });
  await server.quiet();

  expect(caller.answers.map(({ seq }) => seq)).toEqual(caller.answers.map((_, index) => index + 1));
  expect(new Set(caller.answers.map(({ type, conversation_id: id }) => `${type} ${id}`))).toEqual(
    new Set([`VOICE_VA_RESPONSE ${caller.conversationId}`]),
  );
  // Every reply has its sound ahead of its FINAL.
  const story = caller.answers.map(({ payload }) => (payload?.response_type === 'CHUNK' ? 'c' : 'F')).join('');
  expect(story).toMatch(/^(?:c+F){3}$/u);
  const texts = caller.answers.flatMap((answer) => ('metadata' in answer ? [answer.metadata] : []));
  expect(texts).toEqual([
    { parley_prompt_texts: ['Welcome. Enter your four digit code.'] },
    { parley_prompt_texts: ['You entered 4 7 1 1. Press 1 if right, 2 to try again.'] },
    { parley_prompt_texts: ['Thank you, goodbye.'] },
  ]);
});
