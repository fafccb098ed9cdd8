import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommanderError } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { callCommand } from '../../../../src/fake-platform/cli/call.ts';
import type { CallSurroundings } from '../../../../src/fake-platform/cli/call-access.ts';
import { DTMF_KEY, EVENT_OUTPUT } from '../../../../src/contract/numbers.ts';
import { mulawWav, pcmWav, readWavLayout } from '../../../../src/speech/wav.ts';
import { tone, wavReply } from '../../../support/call-lab.ts';
import { testCertificate } from '../../../support/certificate.ts';
import { freePort } from '../../../support/free-port.ts';
import { eventOnly, listenFor, startScriptedServer, type ScriptedServer, type TurnScript } from '../../../support/scripted-server.ts';

const ORGANIZATION = ['--org', 'o-1'];

/** A line that ends the call on key 9, repeats itself on others, and answers speech. */
const keysAndSpeech: TurnScript = async (turn) => {
  if (turn.number === 1) {
    await turn.halfClosed();
    turn.send(wavReply(500, listenFor('INPUT_VOICE_DTMF', { digits: 1 }), { text: 'Welcome.' }));
    turn.complete();
    return;
  }
  await turn.until(
    ({ received, isHalfClosed }) => isHalfClosed || received.some(({ message }) => (message.audio_input?.caller_audio?.[0] ?? 0xff) < 0xf0),
  );
  if (!turn.isHalfClosed) {
    turn.send(eventOnly('START_OF_INPUT'));
    await turn.silenceAfterSpeech();
    turn.send(eventOnly('END_OF_INPUT'));
    await turn.halfClosed();
    turn.send(wavReply(200, listenFor('INPUT_VOICE_DTMF', { digits: 1 }), { text: 'You spoke.' }));
  }
  const keys = turn.received[0]?.message.dtmf_input?.dtmf_events;
  if (keys?.[0] === DTMF_KEY['9']) {
    turn.send({
      prompts: wavReply(200, {}, { text: 'Goodbye.' }).prompts ?? [],
      output_events: [{ event_type: EVENT_OUTPUT.SESSION_END }],
    });
  } else if (keys !== undefined) {
    turn.send(wavReply(200, listenFor('INPUT_VOICE_DTMF', { digits: 1 }), { text: 'Again.' }));
  }
  turn.complete();
};

interface Ran {
  readonly code: number | undefined;
  readonly printed: readonly string[];
  readonly complaints: readonly string[];
}

let server: ScriptedServer;
let folder: string;

beforeEach(async () => {
  server = await startScriptedServer({
    script: keysAndSpeech,
    agents: {
      virtual_agents: [
        { virtual_agent_id: 'echo', virtual_agent_name: 'Echo', is_default: true },
        { virtual_agent_id: 'code-line', virtual_agent_name: 'Code line' },
      ],
    },
  });
  folder = await mkdtemp(path.join(tmpdir(), 'parley-call-'));
});

afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the command in this process, twenty times as fast as life unless the words say otherwise. */
async function run(...words: readonly string[]): Promise<Ran> {
  const printed: string[] = [];
  const complaints: string[] = [];
  let code: number | undefined;
  const surroundings: CallSurroundings = {
    clock: systemClock,
    isColoured: false,
    openVoice: () =>
      Promise.resolve({
        speak: (text: string) => Promise.resolve(tone(text.length * 50)),
        changeRate: (samples: Int16Array, fromHz: number, toHz: number) => samples.subarray(0, (samples.length * toHz) / fromHz),
        close: () => Promise.resolve(),
      }),
    print: (line) => {
      printed.push(line);
    },
    complain: (line) => {
      complaints.push(line);
    },
    setExitCode: (exitCode) => {
      code = exitCode;
    },
    onInterrupt: () => () => undefined,
  };
  const command = callCommand(surroundings).exitOverride();
  command.configureOutput({ writeErr: (text) => complaints.push(text), writeOut: (text) => printed.push(text) });
  try {
    await command.parseAsync(['--pace', '20', ...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = error.exitCode;
  }
  return { code, printed, complaints };
}

describe('parley call', () => {
  it('does the steps in the order of the command line, prints the timeline and ends with 0', async () => {
    const { code, printed } = await run(
      server.target,
      ...ORGANIZATION,
      '--press',
      '1',
      '--say',
      'hello there',
      '--press',
      '9',
      '--expect',
      'text:again',
      '--expect',
      'text:/you spoke/i',
      '--expect',
      'end',
    );
    expect(printed.at(-1)).toMatch(/^\nok {2}ended after \d+\.\d s, 4 replies, slowest reply \d+ ms\n {2}at pace 20/u);
    expect(code).toBe(0);
    const steps = printed.filter((line) => /caller +(?:presses|speaks)/u.test(line));
    expect(steps.map((line) => line.trim().split(/ {2,}/u).slice(1))).toEqual([
      ['caller', 'presses', '1'],
      ['caller', 'speaks', '"hello there"'],
      ['caller', 'presses', '9'],
    ]);
  });

  it('ends with 1 and says why when an expectation is not met', async () => {
    const { code, printed } = await run(server.target, ...ORGANIZATION, '--press', '9', '--expect', 'transfer', '--expect', 'text:welcome');
    expect(code).toBe(1);
    expect(printed.at(-1)?.trim().split('\n')).toEqual([
      expect.stringMatching(/^not ok {2}ended/u),
      '  unmet  transfer: the call was ended',
      expect.stringContaining('at pace 20'),
    ]);
  });

  it('ends with 1 when the call failed, without a stack trace', async () => {
    const { code, printed, complaints } = await run(`grpc://127.0.0.1:${String(await freePort())}`, ...ORGANIZATION);
    expect(code).toBe(1);
    expect(printed.at(-1)).toContain('refused on #1: nothing listens at the address');
    expect([...printed, ...complaints].join('\n')).not.toMatch(/^\s+at .*:\d+:\d+/mu);
  });

  it('prints JSON lines, the result last', async () => {
    const { printed } = await run(server.target, ...ORGANIZATION, '--json', '--press', '9');
    const lines = printed.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(lines.slice(0, -1).every((line) => ['atMs', 'who', 'what'].every((name) => name in line))).toBe(true);
    expect(lines.at(-1)).toMatchObject({ result: { ok: true, outcome: 'ended', heardTexts: ['Welcome.', 'Goodbye.'], findings: [] } });
  });

  it('records the call as a stereo WAV, and says so when it cannot', async () => {
    const file = path.join(folder, 'call.wav');
    expect((await run(server.target, ...ORGANIZATION, '--press', '9', '--record', file)).code).toBe(0);
    expect(readWavLayout(await readFile(file))).toMatchObject({ channels: 2, sampleRateHz: 8000, coding: 'pcm16' });
    const failed = await run(server.target, ...ORGANIZATION, '--press', '9', '--record', path.join(folder, 'no', 'call.wav'));
    expect(failed.code).toBe(1);
    expect(failed.complaints[0]).toContain('cannot be written');
  });

  it('speaks from a recording at another rate', async () => {
    const file = path.join(folder, 'caller.wav');
    await writeFile(file, pcmWav([Int16Array.from({ length: 16_000 }, (_, index) => 8000 * Math.sin(index / 5))], 16_000));
    const { code } = await run(server.target, ...ORGANIZATION, '--wav', file, '--press', '9', '--expect', 'text:you spoke');
    expect(code).toBe(0);
  });

  it('sends parameters, agent, conversation and the token of a file', async () => {
    const file = path.join(folder, 'token.jws');
    await writeFile(file, 'a.b.c\n');
    await run(
      server.target,
      ...ORGANIZATION,
      '--agent',
      'echo',
      '--conversation',
      'c-7',
      '--start-name',
      'from_queue',
      '--param',
      'tier=gold',
      '--param',
      'note=a=b',
      '--token-file',
      file,
      '--bearer',
    );
    const message = server.turns[0]?.received[0]?.message;
    expect(message).toMatchObject({ conversation_id: 'c-7', customer_org_id: 'o-1', virtual_agent_id: 'echo' });
    expect(message?.event_input?.name).toBe('from_queue');
    expect(message?.event_input?.parameters?.fields).toMatchObject({ tier: { stringValue: 'gold' }, note: { stringValue: 'a=b' } });
    expect(server.turns[0]?.metadata.get('authorization')).toEqual(['Bearer a.b.c']);
  });

  it('trusts the authority it is given', async () => {
    const tls = await testCertificate();
    const secure = await startScriptedServer({ script: keysAndSpeech, tls });
    expect((await run(secure.target, ...ORGANIZATION, '--ca', tls.certificateFile, '--press', '9')).code).toBe(0);
    expect((await run(secure.target, ...ORGANIZATION, '--press', '9')).printed.at(-1)).toContain('tls_failed');
    secure.close();
    tls.remove();
  });

  it('compares a known prompt with what is heard, sample by sample', async () => {
    const [good, other] = [path.join(folder, 'good.wav'), path.join(folder, 'other.wav')];
    await writeFile(good, mulawWav(tone(500)));
    await writeFile(other, mulawWav(tone(500, 300)));
    expect((await run(server.target, ...ORGANIZATION, '--hears', good, '--press', '9')).code).toBe(0);
    const { code, printed } = await run(server.target, ...ORGANIZATION, '--hears', other);
    expect(code).toBe(1);
    expect(printed.at(-1)).toContain(`unmet  hears ${other}: no reply begins to sound like it`);
  });

  it('sends an event of the flow as a step', async () => {
    await run(server.target, ...ORGANIZATION, '--event', 'bonus={"points":3}', '--press', '9');
    const sent = server.turns.flatMap(({ received }) => received.map(({ message }) => message.event_input?.name));
    expect(sent).toContain('bonus');
  });

  it('holds a call on a bad line', async () => {
    const bad = ['--jitter', '100', '--burst', '200', '--slow-reader', '2000ms', '--seed', '3'];
    expect((await run(server.target, ...ORGANIZATION, ...bad, '--press', '9', '--expect', 'end')).code).toBe(0);
  });

  it('says that a call is lost whose line is', async () => {
    const { code, printed } = await run(server.target, ...ORGANIZATION, '--wait', '60000', '--lose-after', '20000');
    expect(code).toBe(0);
    expect(printed.at(-1)).toMatch(/^\nok {2}lost after \d+\.\d s, 1 reply/u);
  });

  it('goes faster than life, and says what its times are worth', async () => {
    const { code, printed } = await run(server.target, ...ORGANIZATION, '--press', '9', '--pace', '2');
    expect(code).toBe(0);
    expect(printed.at(-1)).toContain("at pace 2: a server's own work counts 2 times");
    expect((await run(server.target, ...ORGANIZATION, '--press', '9', '--pace', '2', '--json')).printed.at(-1)).toContain('"pace":2');
  });

  it('lists the agents', async () => {
    expect(await run(server.target, ...ORGANIZATION, '--list')).toMatchObject({
      code: 0,
      printed: ['echo  Echo  (default)', 'code-line  Code line'],
    });
    const { printed } = await run(server.target, ...ORGANIZATION, '--list', '--json');
    expect(printed.map((line) => JSON.parse(line) as unknown)).toContainEqual({ id: 'code-line', name: 'Code line', isDefault: false });
  });

  it.each([
    [[], '--org'],
    [ORGANIZATION, 'missing required argument'],
    [['localhost:1'], '--org'],
    [['not a target', ...ORGANIZATION], 'is no target'],
    [['localhost:1', ...ORGANIZATION, '--press', '12x'], 'keys are 0 to 9'],
    [['localhost:1', ...ORGANIZATION, '--expect', 'joy'], 'is no expectation'],
    [['localhost:1', ...ORGANIZATION, '--interrupt', '5'], 'needs a step after it'],
    [['localhost:1', ...ORGANIZATION, '--wav', '/nonexistent.wav'], 'cannot be read'],
    [['localhost:1', ...ORGANIZATION, '--wav', new URL(import.meta.url).pathname], 'does not start with RIFF'],
    [['localhost:1', ...ORGANIZATION, '--token', 'a', '--token-file', 'b'], 'give one of them'],
    [['localhost:1', ...ORGANIZATION, '--conversation', 'caf\u00e9'], 'visible ASCII'],
    [['localhost:1', ...ORGANIZATION, '--ca', '/nonexistent.pem'], 'cannot be read'],
    [['localhost:1', ...ORGANIZATION, '--param', 'x'], 'name=value'],
    [['localhost:1', ...ORGANIZATION, '--max-seconds', 'long'], 'whole number'],
    [['localhost:1', ...ORGANIZATION, '--max-seconds', '0'], 'from 1 to 3600'],
    [['localhost:1', ...ORGANIZATION, '--max-seconds', '3601'], 'from 1 to 3600'],
    [['localhost:1', ...ORGANIZATION, '--unknown'], 'unknown option'],
    [['localhost:1', ...ORGANIZATION, '--event', '={}'], 'write a name'],
    [['localhost:1', ...ORGANIZATION, '--event', 'bonus=[1]'], 'a JSON object'],
    [['localhost:1', ...ORGANIZATION, '--jitter', '5000'], 'jitter: give 0 to 2000 ms'],
    [['localhost:1', ...ORGANIZATION, '--slow-reader', 'much'], 'such as 3000ms'],
    [['localhost:1', ...ORGANIZATION, '--slow-reader', '10B/s'], 'at least 1000 bytes'],
    [['localhost:1', ...ORGANIZATION, '--pace', '0.5'], 'from 1 to 50'],
    [['localhost:1', ...ORGANIZATION, '--hears', '/nonexistent.wav'], 'cannot be read'],
  ])('refuses %j as wrong usage', async (words, reason) => {
    const { code, complaints, printed } = await run(...words);
    expect(complaints.join('\n')).toContain(reason);
    expect(code).not.toBe(0);
    expect(printed).toEqual([]);
  });

  it('prints what happened, ends the call and exits with 130 on Ctrl-C, and stays alive while no RPC is open', async () => {
    server.close();
    const keysOnly = await startScriptedServer({
      script: async (turn) => {
        await turn.halfClosed();
        if (turn.number === 1) turn.send(wavReply(100, listenFor('INPUT_EVENT_DTMF')));
        turn.complete();
      },
    });
    const flags = [
      '--import',
      'tsx',
      '--conditions=@parley/source',
      'src/cli/main.ts',
      'call',
      keysOnly.target,
      ...ORGANIZATION,
      '--wait',
      '2000',
      '--wait',
      '600000',
    ];
    const child = spawn(process.execPath, flags, { cwd: packageRoot(), stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (bytes: Buffer) => {
      printed += bytes.toString();
      if (printed.includes('600000 ms') && !child.killed) child.kill('SIGINT');
    });
    const code = await new Promise<number | null>((resolve) => {
      child.once('close', resolve);
    });
    expect(printed).toContain('not ok  interrupted');
    expect(code).toBe(130);
    expect(keysOnly.exchange.slice(-3)).toEqual(['RPC2 > SESSION_END', 'RPC2 > half-close', 'RPC2 < complete']);
    keysOnly.close();
  });
});
