// The exchange of a check: it keeps its beginning and its end, and shows requests and responses without the caller's data.
import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { structFromJson } from '../../../../src/contract/struct.ts';
import { answerText, exchangeText, ExchangeLog } from '../../../../src/fake-platform/conformance/exchange.ts';
import { answerFromWire } from '../../../../src/fake-platform/lines/from-wire.ts';
import type { MediaResponse } from '../../../../src/contract/grpc.ts';

const text = (message: MediaResponse): string => answerText(answerFromWire(message), message);

it('keeps the first and the last lines of a long exchange, and marks what is left out', () => {
  const log = new ExchangeLog(systemClock);
  for (let line = 1; line <= 1000; line += 1) log.add('server', 'RPC1', `line ${String(line)}`);
  const { lines } = log;
  expect(lines.length).toBeLessThanOrEqual(301);
  expect(lines[0]?.what).toBe('line 1');
  expect(lines.at(-1)?.what).toBe('line 1000');
  expect(lines.filter(({ who }) => who === 'suite').map(exchangeText)).toEqual([expect.stringContaining('700 lines left out')]);
});

it('counts what is said again, also in the last lines', () => {
  const log = new ExchangeLog(systemClock);
  for (let line = 1; line <= 500; line += 1) log.add('server', 'RPC1', `line ${String(line)}`);
  for (let again = 0; again < 5; again += 1) log.add('server', 'RPC1', 'silence');
  expect(log.lines.at(-1)).toMatchObject({ what: 'silence', times: 5 });
});

it('names the values of the input settings (G-82)', () => {
  expect(
    text({
      input_mode: 3,
      input_handling_config: {
        dtmf_config: { inter_digit_timeout_msec: 3000, termchar: 16, dtmf_input_length: 4 },
        speech_timers: { no_input_timeout_msec: -1 },
      },
    }),
  ).toBe('FINAL, input mode voice_dtmf, input settings (no input -1 ms, 4 digits, between digits 3000 ms, terminator #)');
});

it('names the routing hint and how long the texts are, and no text (G-79, G-7B)', () => {
  const said = text({
    output_events: [
      { event_type: 2, name: 'transfer_requested', metadata: structFromJson({ routing_hint: 'front desk', summary: 'secret words' }) },
    ],
    session_summary: { text: 'secret words' },
    session_transcript: { text: 'more of them' },
  });
  expect(said).toBe(
    'FINAL, TRANSFER "transfer_requested" with routing_hint "front desk", summary 12 chars, session summary 12 chars, session transcript 12 chars',
  );
});
