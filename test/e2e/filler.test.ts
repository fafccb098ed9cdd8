// A caller whose bot takes its time hears so, from the first call on: with the embedded synthesizer, over the wire.
import { expect, it, onTestFinished } from 'vitest';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { RunningServer, SPEAKS_ANEW } from '../support/running-server.ts';
import { event, keys } from '../support/wire-audio.ts';

/** A key makes it think until the caller is gone. */
const SLOW = botModule(
  'slow',
  'dtmf_input: (_state, _event, { signal }) => new Promise((_, give_up) => signal.addEventListener("abort", give_up)),',
);

it('lets the first caller hear the filler', async () => {
  const folder = await makeFolder({ 'slow.mjs': SLOW });
  onTestFinished(() => removeFolder(folder));
  const server = await RunningServer.start({
    flags: [`--bots.folder=${folder}`, '--turns.filler_after_ms=100', '--prompts.filler=Bear with me.', SPEAKS_ANEW],
  });
  onTestFinished(() => server.close());
  await server.app.warmed;
  const call = (await server.client()).call();
  await call.turn(event('SESSION_START'));
  const turn = call.open(keys('1')).halfClose();
  await turn.heard('CHUNK audio');
  expect(turn.audio.length / 8000).toBeGreaterThan(0.3);
  expect(await server.metric('parley_fillers_total{bot="slow"}')).toBe(1);
  await call.turn(event('SESSION_END'));
  await turn.ended();
  await server.quiet();
});
