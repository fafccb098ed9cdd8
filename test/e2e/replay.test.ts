// Calls to a real server over both wires, recorded and replayed: nothing may go otherwise. And with a changed bot, `parley replay` says what.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import frontDesk from '../../bots/front-desk.ts';
import { replayFile } from '../../src/cli/replay/replay-call.ts';
import { joined, recorded, silence } from '../support/line-signals.ts';
import { recordingsFolder } from '../support/recording-lab.ts';
import { grpcTransport } from '../support/transports/grpc.ts';
import type { PlacedCall } from '../support/transports/placed-call.ts';
import { websocketTransport } from '../support/transports/websocket.ts';
import { until } from '../support/until.ts';

const KEY = 'ab'.repeat(32);

/** Presses a key, speaks over the answer, and asks for a person. */
async function talk(call: PlacedCall): Promise<void> {
  const replied = (count: number): Promise<void> =>
    until(`${String(count)} replies are over`, () => call.replies.filter(({ next }) => next !== undefined).length >= count);
  call.start('', {});
  await replied(1);
  call.press('1');
  await replied(2);
  await call.speak(joined(silence(600), recorded('number'), silence(1500)));
  await replied(3);
  call.press('0');
  await replied(4);
}

describe.each([
  ['grpc', grpcTransport],
  ['websocket', websocketTransport],
] as const)('a call over %s', (_wire, open) => {
  it('goes the same way again', async () => {
    const folder = recordingsFolder();
    const flags = ['--recordings.enabled=true', `--recordings.folder=${folder}`, `--recordings.keys=["${KEY}"]`];
    const transport = await open([...flags, '--turns.max_farewell_ms=0']);
    const call = await transport.place('front-desk');
    await talk(call);
    await call.close();
    await transport.quiet();
    await transport.close();

    const [name = ''] = readdirSync(folder);
    const result = await replayFile(path.join(folder, name), {
      ...{ bots: [frontDesk], keys: [Buffer.from(KEY, 'hex')], models: 'recorded' },
      complain: () => undefined,
    });
    expect(result).toMatchObject({ bot: 'front-desk', differences: [] });
    expect(result).not.toHaveProperty('uncertainFrom');
    expect('turns' in result && result.turns).toBeGreaterThanOrEqual(4);
  });
});
