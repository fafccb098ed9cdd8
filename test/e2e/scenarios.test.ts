// `parley test` as a bot author uses it: the scenarios of the bundled bots against the real server, over a real socket, with
// the token check on, and a bot that is slow on purpose.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { scaledClock } from '../../src/base/scaled-clock.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import type { CallSurroundings } from '../../src/fake-platform/cli/call-access.ts';
import { testCommand } from '../../src/fake-platform/cli/test.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { RunningServer } from '../support/running-server.ts';

/** How much faster than life both sides run. */
const PACE = 4;

/** Answers every key, and 2 late. What it says is spoken before the first call. */
const SLOW = botModule(
  'sleepy',
  `prompts: ['Hello from sleepy.', 'Yes.'],
  dtmf_input: async (_state, { digits }) => {
    await new Promise((resolve) => setTimeout(resolve, digits === '2' ? 2100 : 0));
    return go(null, say('Yes.').listen({ digits: 1 }));
  }`,
);

const SLOW_SCENARIO = `
tests:
  - name: every key at once
    agent: sleepy
    steps:
      - { press: '1', interrupt_after_ms: 100 }
      - { press: '2', interrupt_after_ms: 100 }
      - { press: '3', interrupt_after_ms: 100 }
    expect: { latency_below_ms: 2000 }
`;

describe('scenarios against the real server', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await makeFolder({ 'slow-bots/sleepy.mjs': SLOW, 'slow.yaml': SLOW_SCENARIO });
  });
  afterAll(() => removeFolder(folder));

  async function run(server: RunningServer, ...argv: readonly string[]): Promise<{ code: number | undefined; out: string }> {
    const tokenFile = path.join(folder, 'token.jws');
    await writeFile(tokenFile, await server.issuer.issueToken());
    const access = ['--target', server.target, '--ca', server.certificate.certificateFile, '--token-file', tokenFile];
    const lines: string[] = [];
    let code: number | undefined;
    const surroundings: CallSurroundings = {
      ...{ clock: systemClock, isColoured: false, openVoice: callerVoice },
      print: (line) => lines.push(line),
      complain: (line) => lines.push(line),
      setExitCode: (set) => (code = set),
      onInterrupt: () => () => undefined,
    };
    await testCommand(surroundings).parseAsync([...argv, ...access, '--org', server.issuer.claims.organizationId], { from: 'user' });
    await server.quiet();
    return { code, out: lines.join('\n') };
  }

  it('passes those of the bundled bots', async () => {
    const server = await RunningServer.start({
      clock: scaledClock(PACE),
      flags: ['--media.reveal_prompt_text=true', '--listen.no_input_ms=3000'],
    });
    try {
      await server.app.warmed;
      const junit = path.join(folder, 'junit.xml');
      const scenarios = path.join(packageRoot(), 'bots/scenarios');
      const { code, out } = await run(server, scenarios, '--jobs', '7', '--pace', String(PACE), '--junit', junit);
      expect(code, out).toBe(0);
      expect(out).toMatch(/^17 passed, 0 failed in /mu);
      expect(await readFile(junit, 'utf8')).toContain('tests="17" failures="0" errors="0" skipped="0"');
    } finally {
      await server.close();
    }
  }, 120_000);

  it('names the turn on which a bot was slow, marks it in the timeline, and keeps the sound', async () => {
    const server = await RunningServer.start({
      flags: ['--media.reveal_prompt_text=true', `--bots.folder=${path.join(folder, 'slow-bots')}`],
    });
    try {
      await server.app.warmed;
      const recordings = path.join(folder, 'recordings');
      const { code, out } = await run(server, path.join(folder, 'slow.yaml'), '--record-failures', recordings);
      expect(code, out).toBe(1);
      const turn = /call: latency_below_ms 2000\n {2}found {5}the reply to dtmf \(#(?<turn>\d+)\) took [2-9]\d{3} ms\n/u.exec(out)
        ?.groups?.['turn'];
      expect(turn, out).toBeDefined();
      expect(out.match(/latency_below_ms/gu), out).toHaveLength(1);
      expect(out).toMatch(new RegExp(`^ {2}> #${turn ?? ''} +dtmf +"Yes." {2}\\+[2-9]\\d{3} ms`, 'mu'));
      expect(out).toMatch(new RegExp(`^ {2}> +[\\d.]+ {2}platform {2}dtmf +#${turn ?? ''} +2$`, 'mu'));
      expect(await readdir(recordings)).toEqual(['slow-every-key-at-once.wav']);
    } finally {
      await server.close();
    }
  });
});
