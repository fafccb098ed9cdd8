// After how much silence the platform reports it on a socket, where a server says less about it than it has to.
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/base/json.ts';
import { callSocket, chunk, ending } from '../../../../support/scripted-socket-server.ts';

it.each<[string, JsonObject]>([
  ['no settings at all', {}],
  ['none but the mode', { input_mode: 'INPUT_VOICE_DTMF' }],
  ['empty ones', { input_mode: 'INPUT_VOICE_DTMF', input_handling_config: null }],
])('W-14 the platform reports silence after its own time behind a FINAL with %s (G-80)', async (_, settings) => {
  const { result } = await callSocket(
    async (socket) => {
      await socket.next('SESSION_START');
      socket.respond(chunk(100));
      socket.respond({ response_type: 'FINAL', prompts: [{ audio_content_b64: '' }], ...settings });
      await socket.next('NO_INPUT');
      socket.respond(ending('SESSION_END'));
    },
    { script: [{ kind: 'stay_silent' }], noInputMs: 2000, limits: { callMs: 20_000 } },
  );
  expect(result.outcome).toBe('ended');
  expect(result.findings).toMatchObject([{ code: 'input_settings_missing', rule: 'G-80' }]);
});
