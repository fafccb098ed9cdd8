import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configCommand } from '../../../src/cli/config.ts';

const VALID = ['--tls.mode=off', '--auth.enabled=false', '--grpc.host', '127.0.0.1'];

let exitCode: typeof process.exitCode;

beforeEach(() => {
  exitCode = process.exitCode;
});

afterEach(() => {
  process.exitCode = exitCode;
});

async function run(argv: readonly string[], isTerminal = false): Promise<{ out: string; err: string; code: unknown }> {
  let out = '';
  let err = '';
  process.exitCode = undefined;
  const command = configCommand(() => undefined).configureOutput({
    writeOut: (text) => (out += text),
    writeErr: (text) => (err += text),
    getOutHasColors: () => isTerminal,
  });
  await command.parseAsync(argv, { from: 'user' });
  return { out, err, code: process.exitCode };
}

describe('parley config', () => {
  it('prints every setting with its value and its place, aligned and without colour outside a terminal', async () => {
    const { out, err, code } = await run(VALID);
    const lines = out.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(50);
    // Only the spoken sentences are longer than the column.
    const columns = lines.filter((line) => !line.startsWith('prompts.')).map((line) => line.search(/ \S+$/u));
    expect(new Set(columns).size).toBe(1);
    expect(lines.find((line) => line.startsWith('grpc.host '))).toMatch(/^grpc\.host +127\.0\.0\.1 +--grpc\.host$/u);
    expect(out).not.toContain('\u001b');
    expect({ err, code }).toEqual({ err: '', code: undefined });
  });

  it('makes values stand out in a terminal', async () => {
    expect((await run(VALID, true)).out).toContain('\u001b[');
  });

  it('prints JSON with the values themselves, wherever --json stands', async () => {
    const first = await run(['--json', ...VALID]);
    const last = await run([...VALID, '--json']);
    expect(last.out).toBe(first.out);
    expect(JSON.parse(first.out)).toContainEqual({ key: 'auth.enabled', value: false, origin: '--auth.enabled' });
  });

  it('masks nonces in both forms', async () => {
    const source = { id: 'd', organization_id: 'o', url: 'https://h', audience: 'a', subject: 's', nonce: 'CANARY', transport: 'grpc' };
    const argv = [...VALID, `--auth.data_sources=${JSON.stringify([source])}`];
    for (const { out } of [await run(argv), await run([...argv, '--json'])]) {
      expect(out).toContain('****');
      expect(out).not.toContain('CANARY');
    }
  });

  it('exits with 2 and prints nothing but the mistakes when the configuration is invalid', async () => {
    const { out, err, code } = await run([...VALID, '--grpc.prot=1']);
    expect({ out, code }).toEqual({ out: '', code: 2 });
    expect(err).toContain('did you mean --grpc.port?');
  });

  it('hands --config on, with or without an equals sign', async () => {
    for (const argv of [['--config', 'no.yaml'], ['--config=no.yaml']]) expect((await run([...VALID, ...argv])).err).toContain('no.yaml');
  });

  it('exits with 2 when a setting names a bot that is not there, and still prints what is in force', async () => {
    const { out, err, code } = await run([...VALID, '--bots.default_bot=ecko']);
    expect(code).toBe(2);
    expect(out).toContain('bots.default_bot');
    expect(err).toMatch(/bots\.default_bot = ecko {3}\(--bots\.default_bot\)[^]*did you mean echo\?/u);
  });

  it('lists a bot that is not there together with all other mistakes', async () => {
    const { out, err, code } = await run([...VALID, '--bots.default_bot=ecko', '--grpc.port=x', '--sessions.max=0']);
    expect({ out, code }).toEqual({ out: '', code: 2 });
    expect(err).toMatch(
      /^3 settings are wrong:\n[^]*grpc\.port = x[^]*sessions\.max = 0[^]*bots\.default_bot = ecko[^]*did you mean echo\?/u,
    );
  });

  it('judges no bot by a folder that is wrong itself, and tells the mistakes of the settings before those of a module', async () => {
    for (const folder of ['', ' ', '/nowhere']) {
      const { err, code } = await run([...VALID, '--bots.default_bot=ecko', '--grpc.port=x', `--bots.folder=${folder}`]);
      expect([code, err.includes('grpc.port = x'), err.includes('ecko')]).toEqual([2, true, folder === '']);
    }
  });

  it('fails as serve would when a bot module cannot be loaded', async () => {
    await expect(run([...VALID, '--bots.folder=/nowhere'])).rejects.toMatchObject({ code: 'bot_invalid' });
  });

  it('shows an example in its help', () => {
    let help = '';
    const command = configCommand(() => undefined).configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    expect(help).toMatch(/Examples:\n {2}\$ .*parley config --config my\.yaml/u);
  });
});
