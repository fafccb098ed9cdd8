// `parley say` on the embedded voice and on a service: what it writes, and what it says of settings that are none of its business.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sayCommand } from '../../../src/cli/say.ts';
import { readWav } from '../../../src/speech/wav.ts';

let folder = '';
let service: Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'parley-say-'));
});
afterEach(async () => {
  service?.closeAllConnections();
  service?.close();
  service = undefined;
  await rm(folder, { recursive: true });
});

async function run(...argv: readonly string[]): Promise<string> {
  let out = '';
  const command = sayCommand().exitOverride();
  command.configureOutput({ writeOut: (text) => (out += text), writeErr: () => undefined });
  await command.parseAsync(argv, { from: 'user' });
  return out;
}

describe('parley say', () => {
  it('lists the voices without a text', async () => {
    expect(await run()).toBe('slt  (default)\nrms\nawb\nkal\n');
    expect(JSON.parse(await run('--json'))).toEqual(['slt', 'rms', 'awb', 'kal']);
  });

  it('writes what a caller hears, with the voice that is asked for, and needs nothing of a server', async () => {
    const sounds: Uint8Array[] = [];
    for (const voice of ['slt', 'rms']) {
      const out = path.join(folder, `${voice}.wav`);
      const { file, durationMs } = JSON.parse(await run('Hello there.', '--voice', voice, '--out', out, '--json')) as Record<
        string,
        number
      >;
      const wav = await readFile(out);
      const { samples, sampleRateHz } = readWav(wav);
      expect([file, sampleRateHz, samples.length]).toEqual([out, 8000, (durationMs ?? 0) * 8]);
      sounds.push(wav);
    }
    expect(sounds[0]).not.toEqual(sounds[1]);
    expect(await run('Hello.', '--out', path.join(folder, 'hello.wav'))).toMatch(/hello\.wav {2}0\.\d s of speech, made in \d+ ms\n$/u);
  });

  it('speaks through a service', async () => {
    const asked: unknown[] = [];
    service = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        asked.push(JSON.parse(body));
        // A fifth of a second of 16-bit samples at 24 kHz.
        response.end(Buffer.alloc(9600, 1));
      });
    });
    const listening = service;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const { port } = listening.address() as AddressInfo;
    const out = path.join(folder, 'service.wav');
    const settings = ['--synthesizer.engine=http', `--synthesizer.http.url=http://127.0.0.1:${String(port)}`, '--synthesizer.http.model=m'];
    await run('Hello.', '--out', out, '--voice', 'nova', ...settings);
    expect(asked).toMatchObject([{ input: 'Hello.', voice: 'nova', model: 'm' }]);
    expect(readWav(await readFile(out)).samples.length).toBeGreaterThan(800);
  });

  it('refuses a voice that is not there, and where there is no synthesizer', async () => {
    await expect(run('Hello.', '--voice', 'nobody')).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(run('Hello.', '--synthesizer.engine=none')).rejects.toMatchObject({ code: 'synthesis_failed' });
  });
});
