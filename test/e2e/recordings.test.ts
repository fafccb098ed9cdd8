// Recordings of a real server over both wires: a caller gives a secret code by keys and by voice, and no file that the server writes and no
// line of its log has it (G-83). And a disk that is full costs recordings, never calls.
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { viewOf } from '../../src/recording/call-view.ts';
import { readRecording } from '../../src/recording/read-recording.ts';
import type { Recording } from '../../src/recording/recording.ts';
import { eventsOf, recordingsFolder } from '../support/recording-lab.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import { SPOKEN_PROMPTS } from '../support/spoken-prompts.ts';
import { grpcTransport } from '../support/transports/grpc.ts';
import type { PlacedCall } from '../support/transports/placed-call.ts';
import { websocketTransport } from '../support/transports/websocket.ts';
import { until } from '../support/until.ts';

const KEY = 'ab'.repeat(32);
const CODE = '7042';
/** The code as the bot says it, and as one number. */
const SPELLINGS = [CODE, CODE.split('').join(' '), CODE.split('').join(', ')];
const WIRES = [
  ['grpc', grpcTransport],
  ['websocket', websocketTransport],
] as const;

function recordingFlags(folder: string): readonly string[] {
  return [
    '--recordings.enabled=true',
    `--recordings.folder=${folder}`,
    `--recordings.keys=["${KEY}"]`,
    '--log.level=trace',
    '--turns.max_farewell_ms=0',
  ];
}

function replied(call: PlacedCall, count: number): Promise<void> {
  return until(`${String(count)} replies are over`, () => call.replies.filter(({ next }) => next !== undefined).length >= count);
}

/** Presses the code, says it is wrong, says another one aloud, and hangs up. */
async function secretCall(call: PlacedCall): Promise<void> {
  call.start('', { pin: CODE });
  await replied(call, 1);
  call.press(CODE);
  await replied(call, 2);
  call.press('2');
  await replied(call, 3);
  await call.speak(joined(silence(600), recorded('number'), silence(1500)));
  await replied(call, 4);
  call.hangUp();
}

/** What any bot may have said, so that only what is new is spoken. */
function copySpokenPrompts(cache: string): void {
  mkdirSync(SPOKEN_PROMPTS, { recursive: true });
  const spoken = readdirSync(SPOKEN_PROMPTS).filter((name) => name.endsWith('.wav'));
  for (const name of spoken) copyFileSync(path.join(SPOKEN_PROMPTS, name), path.join(cache, name));
}

function onlyRecording(folder: string): { readonly file: Buffer; readonly recording: Recording } {
  const names = readdirSync(folder);
  expect(names).toHaveLength(1);
  const file = readFileSync(path.join(folder, names[0] ?? ''));
  return { file, recording: readRecording(file, [Buffer.from(KEY, 'hex')]) };
}

describe.each(WIRES)('a recorded call over %s', (wire, open) => {
  it('has what happened, and in no file or line of the log the code that was asked for as sensitive', async () => {
    const [folder, cache] = [recordingsFolder(), recordingsFolder()];
    copySpokenPrompts(cache);
    const transport = await open([...recordingFlags(folder), `--synthesizer.cache_folder=${cache}`]);
    const call = await transport.place('code-line');
    await secretCall(call);
    await call.close();
    await transport.quiet();
    const log = transport.log();
    await transport.close();
    const { file, recording } = onlyRecording(folder);

    expect(recording.header).toMatchObject({
      transport: wire,
      isTied: wire === 'websocket',
      mode: 'chunk',
      settings: { turns: { max_farewell_ms: 0 } },
    });
    expect(eventsOf(recording, 'ended')).toMatchObject([{ end: 'caller' }]);
    const keys = eventsOf(recording, 'input').flatMap(({ input }) => (input.kind === 'dtmf' ? [input] : []));
    expect(keys).toEqual([4, 1].map((length) => ({ kind: 'dtmf', length, withheld: true })));
    const facts = eventsOf(recording, 'fact').map(({ event }) => event);
    expect(facts).toEqual(expect.arrayContaining(['session_started', 'bot_asked', 'bot_answered', 'reply_started']));
    const view = viewOf(recording);
    expect(view.turns.filter(({ input }) => input?.isWithheld === true).length).toBeGreaterThanOrEqual(2);

    // Whatever came while a code was wanted is silence.
    expect(recording.callerSound.length).toBeGreaterThan(20_000);
    expect(recording.callerSound.every((byte) => byte === 0xff)).toBe(true);
    const cached = readdirSync(cache).map((name) => readFileSync(path.join(cache, name), 'latin1'));
    for (const spelling of SPELLINGS) {
      for (const text of [JSON.stringify(recording), JSON.stringify(view), file.toString('latin1'), log, ...cached])
        expect(text.includes(spelling)).toBe(false);
    }
  });
});

it('a recording is lost when nothing can be written, and the caller does not notice', async () => {
  // No folder can be made there, not even by root.
  const transport = await grpcTransport(recordingFlags('/dev/null/recordings'));
  const call = await transport.place('code-line');
  await secretCall(call);
  await call.close();
  await transport.quiet();
  await transport.advance(1000);
  await until('the loss is logged', () => transport.log().includes('recordings_lost'));
  expect(call.replies.filter(({ sounds }) => sounds.length > 0).length).toBeGreaterThanOrEqual(4);
  await transport.close();
});
