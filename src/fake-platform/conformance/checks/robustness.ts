// Checks of input that is unusual and legal, or of a later contract (contract, sections 2.7 and 2.10).
import { status } from '@grpc/grpc-js';
import type { Key } from '../../key.ts';
import type { Check } from '../check.ts';
import { eventInput, isBroken, type TurnRecord } from '../probe-call.ts';
import { statusName } from '../wire.ts';

/** A number that no event and no key has. */
const UNKNOWN_NUMBER = 99;
/** Keys whose numbers are no digits (G-66). */
const ODD_KEYS: readonly Key[] = ['0', '*', '#', 'A', 'B', 'C', 'D'];
/** Fields 2046, a text, and 2047, a number. */
const UNKNOWN_FIELDS = Uint8Array.of(0xf2, 0x7f, 0x03, 0x6e, 0x65, 0x77, 0xf8, 0x7f, 0x01);

function brokenBy({ rpc }: TurnRecord, allowed: readonly status[] = [status.OK]): string | undefined {
  return rpc.ending === undefined || !isBroken(rpc) || allowed.includes(rpc.ending.code) ? undefined : statusName(rpc.ending.code);
}

export const ROBUSTNESS_CHECKS: readonly Check[] = [
  {
    id: 'no-digits-survived',
    rules: ['G-65'],
    title: 'A collection without digits is answered and breaks nothing.',
    needs: ['call'],
    run: async (lab) => {
      const call = await lab.ready();
      const broken = brokenBy(await call.press([]));
      if (broken !== undefined) lab.fail(`an empty collection of digits ended with ${broken}`);
      await call.end();
    },
  },
  {
    id: 'every-key-taken',
    rules: ['G-66'],
    title: 'Every key is taken under its number: 0 is 10, star 15, pound 16.',
    needs: ['call'],
    run: async (lab) => {
      await lab.demandKnown();
      const broken = await Promise.all(
        ODD_KEYS.map(async (key) => {
          const { call } = await lab.begun();
          const said = brokenBy(await call.press([key]));
          await call.end();
          return said === undefined ? [] : [`key ${key} ended with ${said}`];
        }),
      );
      const [first] = broken.flat();
      if (first !== undefined) lab.fail(first);
    },
  },
  {
    id: 'unknown-event-survived',
    rules: ['G-90'],
    title: 'An event of a later contract breaks nothing.',
    needs: ['call'],
    run: async (lab) => {
      const call = await lab.ready();
      const unknown = await call.turn('custom_event', { event_input: { event_type: UNKNOWN_NUMBER } });
      const broken = brokenBy(unknown, [status.OK, status.INVALID_ARGUMENT]);
      if (broken !== undefined) lab.fail(`an event with an unknown number ended with ${broken}`);
      await call.end();
    },
  },
  {
    id: 'unknown-fields-survived',
    rules: ['G-90'],
    title: 'Fields of a later contract break nothing.',
    needs: ['call'],
    run: async (lab) => {
      const connection = lab.connect();
      const call = lab.call({}, connection);
      const start = connection.encode(call.message(eventInput('SESSION_START')));
      const rpc = call
        .open()
        .send(Buffer.concat([start, UNKNOWN_FIELDS]))
        .halfClose();
      await rpc.settled(lab.suspect.timing.answerMs);
      if (rpc.final === undefined) {
        const how = rpc.ending === undefined ? 'was not answered' : `ended with ${statusName(rpc.ending.code)}`;
        lab.fail(`a SESSION_START with unknown fields ${how}`);
      }
      await call.end();
    },
  },
];
