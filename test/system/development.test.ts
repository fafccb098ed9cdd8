// What a real server process logs of a bot that throws and of a recognizer that has understood something: all of it for a developer
// on this machine, and nothing that a caller may have said anywhere else (P-14).
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadProfile } from '../../src/contract/profile.ts';
import { placeCall } from '../../src/fake-platform/caller/caller.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { compiledEntry } from '../support/compiled-program.ts';
import { recorded } from '../support/line-signals.ts';
import { dataSource, serverFlags, type LogLine } from '../support/running-server.ts';
import { ServeProcess } from '../support/serve-process.ts';

const MESSAGE = 'CANARY-message';
const WORDS = 'canary words';
const LISTENS = `session_start: () => go(null, say('Yes?').listen()),`;
const THROWS = `speech_input: () => {
  throw Object.assign(new RangeError('${MESSAGE}\\n    at ${MESSAGE} (/x.mjs:1:1)'), { code: 'ECONNREFUSED' });
},`;
const RECOGNIZER = [
  process.execPath,
  '-e',
  `process.stdin.resume(); process.stdin.on('end', () => { console.log(${JSON.stringify(WORDS)}); });`,
];

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ profile: loadProfile('fake') });
});
afterAll(() => issuer.close());

/** The lines of a server's log after a call to each of these bots in which the caller has spoken. */
async function logOf(
  bots: Readonly<Record<string, string>>,
  flags: readonly string[],
): Promise<{ readonly lines: readonly LogLine[]; readonly text: string }> {
  const modules = Object.entries(bots).map(([id, members]) => [`${id}.mjs`, botModule(id, members, compiledEntry())]);
  const folder = await makeFolder(Object.fromEntries(modules) as Readonly<Record<string, string>>);
  onTestFinished(() => removeFolder(folder));
  const server = new ServeProcess([
    ...serverFlags(issuer, undefined, [dataSource(issuer)]),
    ...['--json', `--bots.folder=${folder}`, '--bots.default_bot=throws', '--synthesizer.engine=none', '--shutdown.grace_ms=0'],
    ...['--recognizer.engine=command', `--recognizer.command=${JSON.stringify(RECOGNIZER)}`],
    ...flags,
  ]);
  onTestFinished(() => server.kill());
  const { port } = await server.ready();
  for (const agentId of Object.keys(bots)) {
    const { findings } = await placeCall({
      target: `grpc://127.0.0.1:${String(port)}`,
      profile: loadProfile('fake'),
      ...{ agentId, organizationId: issuer.claims.organizationId, token: await issuer.issueToken() },
      script: [{ kind: 'say', label: 'yes', mulaw: recorded('yes') }],
    });
    expect(findings).toEqual([]);
  }
  server.signal('SIGTERM');
  await server.ended();
  const lines = server.stderr.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as LogLine]));
  return { lines, text: server.stderr };
}

const named = (lines: readonly LogLine[], event: string): LogLine | undefined => lines.find((line) => line['event'] === event);
const THROWN = { thrown: 'RangeError', thrownCode: 'ECONNREFUSED', code: 'bot_failed' };
/** Where the module throws. */
const PLACE = /\/throws\.mjs:\d+:\d+$/u;

describe('the log of a server process', () => {
  it('shows a developer the message of what a handler has thrown, the line in the bot, and the words, but G-83 no sensitive ones', async () => {
    const asks = `session_start: () => go(null, say('Your code?').listen({ sensitive: true })),`;
    const { lines } = await logOf({ throws: LISTENS + THROWS, asks }, ['--auth.enabled=false']);
    expect(named(lines, 'development')).toBeDefined();
    const failed = named(lines, 'bot_failed');
    expect(failed).toMatchObject({ ...THROWN, message: expect.stringContaining(MESSAGE) as string });
    expect(failed?.['place']).toMatch(PLACE);
    expect(lines.filter((line) => line['event'] === 'utterance_understood').map(({ understood, words }) => [understood, words])).toEqual([
      ['words', WORDS],
      ['words', undefined],
    ]);
    expect(lines.filter((line) => JSON.stringify(line).includes(WORDS))).toHaveLength(1);
  });

  it('P-14 names in production what a handler has thrown, its code and its frames, and neither its message nor any words', async () => {
    const { lines, text } = await logOf({ throws: LISTENS + THROWS }, []);
    const failed = named(lines, 'bot_failed');
    expect(failed).toMatchObject(THROWN);
    expect((failed?.['at'] as readonly string[] | undefined)?.[0]).toMatch(/throws\.mjs:\d+:\d+\)$/u);
    expect(failed).not.toHaveProperty('message');
    expect(text).not.toMatch(/canary/iu);
    expect(named(lines, 'development')).toBeUndefined();
  });
});
