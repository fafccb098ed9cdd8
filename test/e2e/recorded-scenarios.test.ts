// Recorded calls as scenarios: what is written must pass against the bot that was recorded, over a real socket.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import codeLine from '../../bots/code-line.ts';
import frontDesk from '../../bots/front-desk.ts';
import { systemClock } from '../../src/base/clock.ts';
import { scaledClock } from '../../src/base/scaled-clock.ts';
import { callerVoice } from '../../src/cli/caller-voice.ts';
import { scenarioText } from '../../src/cli/test-from.ts';
import { testCommand } from '../../src/fake-platform/cli/test.ts';
import type { Recording } from '../../src/recording/recording.ts';
import { recordedWith, START } from '../replay/recorded-with.ts';
import { RunningServer } from '../support/running-server.ts';

/** How much faster than life both sides run. */
const PACE = 4;

describe('a recorded call as a scenario', () => {
  let folder = '';
  let server: RunningServer;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'parley-recorded-'));
    server = await RunningServer.start({
      clock: scaledClock(PACE),
      flags: ['--media.reveal_prompt_text=true', '--listen.no_input_ms=3000'],
    });
    await server.app.warmed;
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(recording: Recording): Promise<{ readonly code: number | undefined; readonly out: string; readonly text: string }> {
    const { text } = scenarioText(recording, 'recorded');
    const [file, tokenFile] = [path.join(folder, 'recorded.yaml'), path.join(folder, 'token.jws')];
    await writeFile(file, text);
    await writeFile(tokenFile, await server.issuer.issueToken());
    const lines: string[] = [];
    let code: number | undefined;
    const command = testCommand({
      ...{ clock: systemClock, isColoured: false, openVoice: callerVoice },
      print: (line) => lines.push(line),
      complain: (line) => lines.push(line),
      setExitCode: (set) => (code = set),
      onInterrupt: () => () => undefined,
    });
    const access = ['--target', server.target, '--ca', server.certificate.certificateFile, '--token-file', tokenFile];
    const { organizationId } = server.issuer.claims;
    await command.parseAsync([file, ...access, '--org', organizationId, '--pace', String(PACE)], { from: 'user' });
    return { code, out: lines.join('\n'), text };
  }

  it('passes with keys, a silence, a key in the middle of the welcome, and a transfer with its data', async () => {
    const recording = await recordedWith(frontDesk, [
      START,
      { kind: 'dtmf', digits: '2', atMs: 2500 },
      { kind: 'no_input', atMs: 25_000 },
      { kind: 'dtmf', digits: '0', atMs: 45_000 },
    ]);
    const { code, out, text } = await run(recording);
    expect(code, `${out}\n${text}`).toBe(0);
    expect(text).toContain('interrupt_after_ms: 2500');
    expect(text).toContain('stay_silent: true');
    expect(text).toContain('You find us at twelve Harbour Street.');
    expect(text).toContain('ends: transferred');
    expect(text).toContain('The caller has heard: address.');
  });

  it('passes with a hang-up, and says nothing of what is withheld', async () => {
    const withheld = { kind: 'dtmf', length: 4, withheld: true } as const;
    const recording = await recordedWith(codeLine, [START, withheld, { kind: 'session_end' }]);
    const { code, out, text } = await run(recording);
    expect(code, `${out}\n${text}`).toBe(0);
    expect(text).toContain('# The keys are not kept: press others.\n      - press: "0000"');
    expect(text).toContain('ends: hung_up');
  });
});
