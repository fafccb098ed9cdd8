// How a run of checks behaves where something other than a check goes wrong: the server dies, floods, echoes secrets or has no
// room, a check breaks or hangs, the user stops it.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { RESPONSE_TYPE } from '../../../../src/contract/numbers.ts';
import type { Check } from '../../../../src/fake-platform/conformance/catalog.ts';
import { redactor } from '../../../../src/fake-platform/conformance/tokens.ts';
import { CHECKS } from '../../../../src/fake-platform/conformance/registry.ts';
import type { RpcLab } from '../../../../src/fake-platform/conformance/rpc-probe.ts';
import { chooseChecks, unknownChoices } from '../../../../src/fake-platform/conformance/run.ts';
import { Slots } from '../../../../src/fake-platform/conformance/survey.ts';
import { startIssuer, type Issuer } from '../../../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { startReferenceServer, type ReferenceServer } from '../../../fixtures/broken-servers/reference-server.ts';
import { examine, examineBroken, tokenRules } from '../../../support/conformance.ts';
import { startScriptedServer, type ScriptedServer, type TurnScript } from '../../../support/scripted-server.ts';

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ profile: loadProfile('fake'), url: 'https://voice.example' });
});
afterAll(() => issuer.close());

async function reference(): Promise<ReferenceServer> {
  const server = await startReferenceServer({ tokens: tokenRules(issuer) });
  onTestFinished(() => {
    server.close();
  });
  return server;
}

async function scripted(script: TurnScript): Promise<ScriptedServer> {
  const server = await startScriptedServer({ script });
  onTestFinished(() => {
    server.close();
  });
  return server;
}

function check(run: (lab: RpcLab) => Promise<void>, id = 'made-up'): Check {
  return { id, rules: ['G-01'], title: 'It is made up.', needs: [], level: 'must', run };
}

const chosen = (...ids: readonly string[]): readonly Check[] => chooseChecks(CHECKS, [], ids);

it('take an error for no refusal, and name the last check before the server was gone', async () => {
  const server = await reference();
  const checks = ['one-default-agent', 'other-scheme-refused', 'foreign-signature-refused', 'odd-json-refused'].flatMap((id) => chosen(id));
  const found = await examine(server.target, {
    checks,
    issuer,
    jobs: 1,
    suspect: { timing: { answerMs: 500, pace: 8, newKeyMs: 100 } },
    onResult: ({ id }) => {
      if (id === 'one-default-agent') server.close();
    },
  });
  expect(found).toMatchObject({ ok: false, passed: 1, failed: 3, finding: { code: 'refused' } });
  expect(found.finding?.message).toContain('stopped answering during the run; "one-default-agent" was the last check that passed');
});

it.each([
  ['list_open', 'G-02', 'list-wants-token', 'no-token-refused'],
  ['list_broken', 'G-05', 'listed-agents-can-be-called', 'both-methods-served'],
  ['broken_json_lets_in', 'G-92', 'odd-json-refused'],
] as const)('name the breach %s', async (breach, rule, ...ids) => {
  expect((await examineBroken(breach, issuer, { checks: chosen(...ids) })).brokenRules).toEqual([rule]);
});

it('decide nothing by an error or a limit of their own, and go on', async () => {
  const server = await reference();
  const checks = [
    check(() => Promise.reject(new TypeError('a mistake of ours')), 'breaks'),
    check(() => new Promise<void>(() => undefined), 'hangs'),
    ...chosen('one-default-agent'),
  ];
  const found = await examine(server.target, { checks, issuer, checkMs: 50 });
  expect(found).toMatchObject({ ok: false, passed: 1, failed: 0, undecided: 2, score: 1 });
  expect(found.results.map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ['undecided', 'the check broke: a mistake of ours'],
    ['undecided', expect.stringContaining('given up')],
    ['pass', ''],
  ]);
});

it('decide nothing where the server has no room', async () => {
  const server = await scripted((turn) => {
    turn.fail(status.RESOURCE_EXHAUSTED, 'full');
  });
  const checks = [check(async (lab) => ((await lab.probe.call().begin()).rpc.isCompleted ? undefined : lab.fail('no welcome')))];
  const found = await examine(server.target, { checks });
  expect(found.results).toMatchObject([{ verdict: 'undecided', reason: expect.stringContaining('--jobs') as string }]);
});

it('cut off a server that floods, and say so', async () => {
  const audio = Buffer.alloc(2 * 1024 * 1024);
  const server = await scripted((turn) => {
    // The first look gets an end.
    if (turn.number !== 2) turn.complete();
    else for (let round = 0; round < 14; round += 1) turn.send({ prompts: [{ audio_content: audio }], response_type: RESPONSE_TYPE.CHUNK });
  });
  let [isFlooded, kept] = [false, 0];
  const flooded = check(async (lab) => {
    const { rpc } = await lab.probe.call().begin();
    [isFlooded, kept] = [rpc.isFlooded, rpc.received.length];
    lab.fail('flooded');
  });
  const found = await examine(server.target, { checks: [flooded] });
  expect([isFlooded, kept]).toEqual([true, 10]);
  const said = found.results[0]?.exchanges[0]?.map(({ what }) => what).join('\n');
  expect(said).toMatch(/flooded it with 1[23] responses/u);
  expect(said).not.toContain('CANCELLED');
});

it('show no token and no nonce that a server echoes', async () => {
  const token = await issuer.issueToken();
  const [head = '', , signature = ''] = token.split('.');
  const echo = `bad ${token}, expected ${issuer.claims.nonce}, signed ${signature}`;
  const server = await scripted((turn) => {
    turn.fail(status.UNAUTHENTICATED, echo);
  });
  const found = await examine(server.target, { checks: chosen('good-token-accepted', 'welcome-on-its-rpc', 'speech-as-wav'), issuer });
  expect(found.results.map(({ verdict }) => verdict)).toEqual(['not_applicable', 'not_applicable', 'fail']);
  const shown = JSON.stringify(found);
  // A token that was issued in another second is not the one that was given, and is hidden part by part.
  expect(shown).toMatch(/bad \[redacted\](?:\.\[redacted\])*, expected \[redacted\]/u);
  for (const secret of [head, signature.slice(0, 20), issuer.claims.nonce]) expect(shown).not.toContain(secret);
  expect(redactor(`Bearer ${token}`)(`${echo} and eyJhbGciOiJub25lIn0.e30.`)).toMatch(/^bad \[redacted\], .* and \[redacted\]$/u);
});

it('end at once when they are interrupted, also before the first answer, and leave no call behind', async () => {
  const stop = new AbortController();
  const server = await scripted(() => {
    stop.abort();
  });
  const found = await examine(server.target, { checks: chosen('chunk-size-and-form'), signal: stop.signal });
  expect(found).toMatchObject({ ok: false, isInterrupted: true, results: [] });

  const late = new AbortController();
  let opened = 0;
  const busy = await scripted(async (turn) => {
    opened += 1;
    await turn.halfClosed();
    turn.send({ prompts: [{ text: 'Hello.' }], response_type: RESPONSE_TYPE.FINAL });
    turn.complete();
    if (opened === 8) late.abort();
  });
  await examine(busy.target, { checks: chosen('chunk-size-and-form'), signal: late.signal });
  expect(busy.turns.length).toBeLessThan(24);
  const left = check(async (lab) => {
    lab.close();
    expect(() => lab.probe.connect()).toThrow('given up');
    return Promise.resolve();
  });
  expect((await examine(busy.target, { checks: [left] })).results).toMatchObject([{ verdict: 'pass' }]);
});

it('place no more parallel calls than allowed, and do not count their time as that of a check', async () => {
  // Far more than a check of one question needs, also on a machine that is busy.
  const checkMs = 2000;
  let [open, most, turns] = [0, 0, 0];
  const server = await scripted(async (turn) => {
    await turn.halfClosed();
    most = Math.max(most, (open += 1));
    turns += 1;
    // One call of the survey alone takes longer than a check may.
    if (turns === 1) await new Promise((resolve) => setTimeout(resolve, checkMs + 100));
    turn.send({ prompts: [{ text: 'Yes.' }], response_type: RESPONSE_TYPE.FINAL });
    open -= 1;
    turn.complete();
  });
  const checks = [
    check(async (lab) => {
      await lab.calls();
    }),
    ...chosen('one-default-agent', 'agent-ids-stable'),
  ];
  const found = await examine(server.target, { checks, jobs: 1, checkMs, suspect: { speech: undefined } });
  expect(found.results.map(({ verdict }) => verdict)).toEqual(['pass', 'not_applicable', 'pass']);
  expect(most).toBe(1);
});

it('hold no more slots than there are, in order', async () => {
  const slots = new Slots(1);
  const order: number[] = [];
  let most = 0;
  let now = 0;
  await Promise.all(
    [1, 2, 3].map((number) =>
      slots.with(async () => {
        most = Math.max(most, (now += 1));
        await Promise.resolve();
        order.push(number);
        now -= 1;
      }),
    ),
  );
  expect([most, order]).toEqual([1, [1, 2, 3]]);
});

it('name what was chosen and is not known', () => {
  expect(unknownChoices(CHECKS, ['G-01', 'X-01'], ['one-default-agent', 'nope'])).toEqual(['X-01', 'nope']);
});
