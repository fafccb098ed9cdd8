// Calls of the bundled bots over gRPC and over WebSocket: whoever calls hears the same, byte for byte.
import { beforeAll, describe, expect, it } from 'vitest';
import { joined, recorded, silence } from '../support/line-signals.ts';
import { grpcTransport } from '../support/transports/grpc.ts';
import type { PlacedCall, DeliveredReply, TransportUnderTest } from '../support/transports/placed-call.ts';
import { websocketTransport } from '../support/transports/websocket.ts';
import { until } from '../support/until.ts';

/** What a caller does after a reply; `hangs up` ends the call. */
type Step = { readonly presses: string } | { readonly says: 'sentence' | 'number' | 'yes' } | 'nothing' | 'hangs up';

const CALLS: readonly (readonly [what: string, agentId: string, steps: readonly Step[]])[] = [
  ['front-desk: hours and a person', 'front-desk', [{ presses: '1' }, { presses: '0' }]],
  [
    'front-desk: directions, a key that means nothing, and silence',
    'front-desk',
    [{ presses: '2' }, { presses: '7' }, 'nothing', 'hangs up'],
  ],
  ['echo: a sentence and a number', 'echo', [{ says: 'sentence' }, { says: 'number' }, 'hangs up']],
  ['code-line: a code that is right', 'code-line', [{ presses: '7042' }, { presses: '1' }]],
];

describe('the calls of the bundled bots', () => {
  /** Replies of every call, by what it is about. */
  let wanted: ReadonlyMap<string, readonly DeliveredReply[]>;
  let heard: ReadonlyMap<string, readonly DeliveredReply[]>;
  beforeAll(async () => {
    // One server after the other: each demands that it leaves nothing behind in this process.
    wanted = await playedOver(grpcTransport);
    heard = await playedOver(websocketTransport);
  });

  it.each(CALLS)('%s sounds the same over both (W-30)', (what) => {
    const [before, now] = [wanted.get(what) ?? [], heard.get(what) ?? []];
    expect(before.length).toBeGreaterThan(1);
    expect(before.every(({ sounds, texts }) => sounds.length > 0 && texts.length === 0)).toBe(true);
    expect(now.map(outline)).toEqual(before.map(outline));
    for (const [index, { sounds }] of now.entries()) expect(bytesOf(sounds).equals(bytesOf(before[index]?.sounds ?? []))).toBe(true);
  });
});

async function playedOver(
  open: (flags: readonly string[]) => Promise<TransportUnderTest>,
): Promise<ReadonlyMap<string, readonly DeliveredReply[]>> {
  const transport = await open(['--bots.default_bot=front-desk', '--turns.max_farewell_ms=0']);
  const replies = new Map<string, readonly DeliveredReply[]>();
  for (const [what, agentId, steps] of CALLS) replies.set(what, await played(transport, agentId, steps));
  await transport.close();
  return replies;
}

/** Everything but the bytes, for messages of failing tests. */
function outline({ sounds, texts, next }: DeliveredReply): unknown {
  return { sounds: sounds.map(({ mulaw, mayBeCut }) => [mulaw.length, mayBeCut]), texts, next };
}

function bytesOf(sounds: DeliveredReply['sounds']): Buffer {
  return Buffer.concat(sounds.map(({ mulaw }) => mulaw));
}

async function played(transport: TransportUnderTest, agentId: string, steps: readonly Step[]): Promise<readonly DeliveredReply[]> {
  const call = await transport.place(agentId);
  call.start('', {});
  let replies = 1;
  await replied(call, replies);
  for (const step of steps) {
    if (step === 'hangs up') {
      call.hangUp();
      continue;
    }
    replies += 1;
    if (step === 'nothing') call.nothing();
    else if ('presses' in step) call.press(step.presses);
    else await call.speak(joined(silence(600), recorded(step.says), silence(1500)));
    await replied(call, replies);
  }
  await call.close();
  await transport.quiet();
  expect(call.breaches).toEqual([]);
  return call.replies;
}

function replied(call: PlacedCall, count: number): Promise<void> {
  return until(
    () => `${String(count)} replies are over: ${JSON.stringify([call.replies.map(outline), call.breaches])}`,
    () => call.replies.filter(({ next }) => next !== undefined).length >= count,
  );
}
