// `parley eval --target`: a running server with TLS and token check, called by a persona of a fake model, on a noisy line.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import { evalCommand } from '../../src/cli/eval.ts';
import { fakeModels } from '../../src/fake-platform/models/start-models.ts';
import { pcmWav } from '../../src/speech/wav.ts';
import { makeFolder, removeFolder } from '../support/bots-folder.ts';
import { RunningServer } from '../support/running-server.ts';

const EVALS = (url: string): string => `
models: { caller: { url: ${url}, model: any } }
personas: { busy: { model: caller, brief: Presses keys., interrupts: 1, noise: noise.wav } }
defaults: { agent: front-desk, runs: 1 }
tests:
  - name: learns the opening hours
    persona: busy
    goal: to know when you open
    expect: { ends: ended, heard: [nine to five, goodbye], not_heard: [harbour] }
  - name: is sent home at once
    persona: busy
    goal: to know when you open
    expect: { not_heard: [nine to five] }
`;

it('calls a server elsewhere and says what was heard there', async () => {
  const server = await RunningServer.start({ flags: ['--media.reveal_prompt_text=true'] });
  onTestFinished(() => server.close());
  const models = await fakeModels({
    rules: [{ when: 'welcome', say: '[keys 1]' }, { say: '[keys 9]' }],
  });
  onTestFinished(() => models.close());
  const random = seededNumbers(1);
  const noise = pcmWav([Int16Array.from({ length: 4000 }, () => (random() - 0.5) * 1200)], 8000);
  const folder = await makeFolder({ 'front-desk.yaml': EVALS(models.url) });
  onTestFinished(() => removeFolder(folder));
  await writeFile(path.join(folder, 'noise.wav'), noise);
  const tokenFile = path.join(folder, 'token.jws');
  await writeFile(tokenFile, await server.issuer.issueToken());
  await server.app.warmed;

  const lines: string[] = [];
  let code: number | undefined;
  const access = ['--target', server.target, '--ca', server.certificate.certificateFile, '--token-file', tokenFile];
  await evalCommand({
    ...{ clock: systemClock, isColoured: false, openVoice: callerVoice },
    print: (line) => lines.push(line),
    complain: (line) => lines.push(line),
    setExitCode: (set) => (code = set),
    onInterrupt: () => () => undefined,
  }).parseAsync(
    [path.join(folder, 'front-desk.yaml'), ...access, '--org', server.issuer.claims.organizationId, '--pace', '4', '--seed', '2'],
    {
      from: 'user',
    },
  );
  await server.quiet();
  const out = lines.join('\n');
  expect(out).toMatch(/^passed {2}.*front-desk\.yaml:6 {2}learns the opening hours\n {2}runs {6}1 of 1 passed, 100 %/mu);
  expect(out).toMatch(/^FAILED {2}.*front-desk\.yaml:10 {2}is sent home at once\n {2}runs {6}0 of 1 passed, 0 % \(0 % to 79 %\)/mu);
  expect(out).toContain('run 1 failed: the bot should not say /nine to five/iu');
  // Half of the reply was heard when the second key came.
  expect(out).toMatch(/^ +bot +We are open from nine to five, Monday to Friday\. Press 1 .*—/mu);
  expect(out).toContain('1 of 2 tests passed, seed 2');
  expect(code, out).toBe(1);
});
