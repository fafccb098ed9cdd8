// A bot that never answers, with the settings a server has when nobody sets any: its caller hears so before the platform gives up.
import { expect, it, onTestFinished } from 'vitest';
import { loadSections } from '../../src/app/config/load-settings.ts';
import { EN } from '../../src/dialog/languages/en.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { placeCall } from '../../src/fake-platform/caller/caller.ts';
import { DEFAULT_LIMITS } from '../../src/fake-platform/caller/call-clock.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { recorded } from '../support/line-signals.ts';
import { RunningServer } from '../support/running-server.ts';

const { turns } = loadSections({ env: {} }, 'turns').settings;
/** What the platform's own tests allow from the end of speech to the first sound, ms (G-95). */
const TARGET_MS = 6000;

it('G-95 lets the caller of a bot that never answers hear the apology well before the platform gives up', async () => {
  const folder = await makeFolder({ 'stuck.mjs': botModule('stuck', 'otherwise: () => new Promise(() => undefined),') });
  onTestFinished(() => removeFolder(folder));
  const server = await RunningServer.start({ hasTls: false, flags: [`--bots.folder=${folder}`, '--media.reveal_prompt_text=true'] });
  onTestFinished(() => server.close(['bot_failed']));
  await server.app.warmed;
  const result = await placeCall({
    target: `grpc://${server.target}`,
    profile: loadProfile('fake'),
    organizationId: server.issuer.claims.organizationId,
    token: await server.issuer.issueToken(),
    script: [{ kind: 'say', label: 'yes', mulaw: recorded('yes') }],
  });
  expect(result.findings).toEqual([]);
  expect(result.heardTexts.at(-1)).toBe(EN.lines.apology);
  const silentAtMs = result.timeline.findLast(({ what }) => what === 'falls_silent')?.atMs ?? NaN;
  const heardAtMs = result.timeline.findLast(({ what }) => what === 'prompt')?.atMs ?? NaN;
  // A machine that runs many tests is late; the setting leaves room for the end of speech and for the way.
  expect(heardAtMs - silentAtMs).toBeLessThan(DEFAULT_LIMITS.answerMs - 1000);
  expect(turns.deadlineMs).toBeLessThan(TARGET_MS);
  await server.quiet();
});
