// `parley models` in front of a developer: where it listens, what it shows of each request, and what it refuses.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { EXIT } from '../../../../src/base/terminal/failure.ts';
import { modelsCommand } from '../../../../src/fake-platform/cli/models.ts';
import { runCommand } from '../../../support/admin-command.ts';
import { until } from '../../../support/until.ts';

const EXAMPLE = path.join(packageRoot(), 'docs/examples/models.yaml');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-models-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command, asks it these words once it listens, and interrupts it. */
async function ran(argv: readonly string[], ...words: readonly string[]) {
  const said: string[] = [];
  let interrupt: () => void = () => undefined;
  const onInterrupt = (listener: () => void): (() => void) => {
    interrupt = listener;
    return () => undefined;
  };
  const command = modelsCommand({ onInterrupt, print: (line) => said.push(line) });
  const end = runCommand(command, [...argv, '--port', '0']);
  await until(
    () => 'the models listen',
    () => said.length > 0,
  );
  const url = /http:\/\/[^\s"]+/u.exec(said.join())?.[0] ?? '';
  const statuses: number[] = [];
  for (const content of words) {
    const messages = [{ role: 'user', content }];
    const tools = ['find_slots', 'end_call'].map((name) => ({ type: 'function', function: { name } }));
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'any', stream: true, messages, tools }),
    });
    statuses.push(response.status);
    await response.text();
  }
  interrupt();
  return { ...(await end), statuses, said, url };
}

describe('parley models', () => {
  it('shows what it is asked and what it answers, and ends when the developer is done', async () => {
    const { code, statuses, said } = await ran(['--script', EXAMPLE], 'Do you have anything on Friday?', 'What?');
    expect({ code, statuses }).toEqual({ code: EXIT.ok, statuses: [200, 404] });
    expect(said[0]).toMatch(/^models {2}http:.*recognizer\.engine=http/su);
    expect(said.slice(1)).toEqual([
      'chat         "Do you have anything on Friday?"  ->  uses find_slots',
      'chat         "What?"  ->  no rule answers this',
    ]);
  });

  it('prints JSON lines', async () => {
    const { said, url } = await ran(['--json'], 'Friday please');
    const realtimeUrl = `${url.replace('http', 'ws')}/realtime`;
    expect(said.map((line): unknown => JSON.parse(line))).toEqual([
      { event: 'ready', url, realtimeUrl, transcriptionUrl: `${realtimeUrl}?intent=transcription` },
      expect.objectContaining({ event: 'request', on: 'chat', text: 'Friday please', use: 'find_slots' }),
    ]);
  });

  it.each([
    ['heared: [hello]', 'Unrecognized key: "heared"'],
    ['rules: [', 'this is no YAML or JSON'],
  ])('refuses the script %s', async (text, reason) => {
    const file = path.join(folder, 'script.yaml');
    writeFileSync(file, text);
    const nobody = { onInterrupt: () => () => undefined, print: () => undefined };
    const { code, err } = await runCommand(modelsCommand(nobody), ['--script', file]);
    expect({ code, err }).toEqual({ code: EXIT.usage, err: expect.stringContaining(reason) as string });
  });
});
