// A bot that never answers, with the settings a server has when nobody sets any: its caller hears so before the platform gives up.
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/base/package-root.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { placeCall } from '../../src/fake-platform/caller/caller.ts';
import { DEFAULT_LIMITS } from '../../src/fake-platform/caller/call-limits.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { recorded } from '../support/line-signals.ts';
import { RunningServer } from '../support/running-server.ts';

const { turns, prompts } = parse(readFileSync(`${packageRoot()}/config/default.yaml`, 'utf8')) as {
  readonly turns: { readonly deadline_ms: number };
  readonly prompts: { readonly apology: string };
};
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
  expect(result.heardTexts.at(-1)).toBe(prompts.apology);
  const silentAtMs = result.timeline.findLast(({ what }) => what === 'falls_silent')?.atMs ?? NaN;
  const heardAtMs = result.timeline.findLast(({ what }) => what === 'prompt')?.atMs ?? NaN;
  // A machine that runs many tests is late; the setting leaves room for the end of speech and for the way.
  expect(heardAtMs - silentAtMs).toBeLessThan(DEFAULT_LIMITS.answerMs - 1000);
  expect(turns.deadline_ms).toBeLessThan(TARGET_MS);
  await server.quiet();
});
