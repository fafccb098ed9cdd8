// What a doctor finds where something stands before the server and does not lead to it: each names its cause, and nothing else
// is found for it.
import { describe, expect, it } from 'vitest';
import { foundIn, patients, saidIn, type Patient } from './patient.ts';

const { admit } = patients();

const BREAKAGES: readonly (readonly [what: string, breakIt: (patient: Patient) => unknown, finding: string, sentence: RegExp])[] = [
  [
    'nobody takes deliveries',
    (it) => (it.knocked = { kind: 'failed', code: 'ECONNREFUSED' }),
    'webhooks/webhook_unanswered',
    /deliveries are not taken there \(ECONNREFUSED\)/u,
  ],
  [
    'a proxy does not pass deliveries on',
    (it) => (it.knocked = { kind: 'connected', value: 404 }),
    'webhooks/webhook_unanswered',
    /something else than our receiver answers .* status 404/u,
  ],
  [
    'a proxy has no server behind it',
    (it) => (it.health = { unanswered: 'the server has no room (HTTP status 503)' }),
    'health/health_unanswered',
    /no server answers there \(.*503\)\); start the server/u,
  ],
];

describe('the checks of the doctor', () => {
  it.each(BREAKAGES)('find, when %s, exactly that', async (_what, breakIt, finding, sentence) => {
    const patient = await admit();
    breakIt(patient);
    const results = await patient.examine();
    expect([...new Set(foundIn(results))]).toEqual([finding]);
    expect(saidIn(results)).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
  });
});
