import { expect, it } from 'vitest';
import { foundIn, patients, saidIn } from './patient.ts';

const { admit } = patients();

it.each([
  ['http://voice.example.com/line', 0],
  ['ws://voice.example.com', 1],
])('the doctor refuses %s, over which calls would cross the network in plain', async (url, index) => {
  const patient = await admit();
  patient.wanted = patient.wanted.map((each) => ({ ...each, pinnedId: `source-${each.transport}` }));
  Object.assign(patient.records[index] ?? {}, { url });
  const results = await patient.examine();
  expect(foundIn(results)).toEqual(['url/url_form']);
  expect(saidIn(results)).toEqual([expect.stringMatching(/its address is without TLS.*; register an https:\/\/ or wss:\/\/ address/u)]);
});
