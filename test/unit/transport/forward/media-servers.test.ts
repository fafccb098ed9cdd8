// Turns that open at a server where their call does not live: the real media server and engine on both sides.
import { readFileSync } from 'node:fs';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { bot, go, say } from '../../../../src/bot/index.ts';
import { EVENT_OUTPUT, loadContract, type MediaResponse } from '../../../../src/contract/grpc.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import type { Prompt } from '../../../../src/dialog/reply.ts';
import type { Sound } from '../../../../src/session/ports.ts';
import { encodeMulaw } from '../../../../src/speech/g711.ts';
import { readWav } from '../../../../src/speech/wav.ts';
import { ToWire } from '../../../../src/transport/grpc/to-wire.ts';
import { at, Home, Table } from '../../../support/forwarding.ts';
import { ForwardingServer, type ForwardingServerOptions } from '../../../support/forwarding-server.ts';
import { PATHS } from '../../../support/platform-client.ts';
import { FakeVoice } from '../../../support/engine.ts';
import { gateOf } from '../../../support/homes.ts';
import { startRelay } from '../../../support/relay.ts';
import { until, within } from '../../../support/until.ts';
import { event, frames, keys, quiet } from '../../../support/wire-audio.ts';

const wire = new ToWire(loadContract(loadProfile('fake')));
const SENTENCE = frames(encodeMulaw(readWav(readFileSync(new URL('../../../fixtures/speech/sentence.wav', import.meta.url))).samples));
const START = event('SESSION_START');

const counting = bot<{ readonly turns: number }>({
  id: 'counting',
  name: 'Counting',
  version: 1,
  session_start: () => go({ turns: 0 }, say('Welcome.').listen()),
  otherwise: ({ turns }) => go({ turns: turns + 1 }, say(`Turn ${String(turns + 1)}.`).listen()),
});

async function servers(
  options: Partial<ForwardingServerOptions> = {},
): Promise<{ readonly near: ForwardingServer; readonly far: ForwardingServer }> {
  const table = new Table();
  const [near, far] = [
    await ForwardingServer.start('near', { table, bots: [counting], ...options }),
    await ForwardingServer.start('far', { table, bots: [counting], ...options }),
  ];
  near.homes.answers = [at(far)];
  return { near, far };
}

function eventsOf(responses: readonly MediaResponse[], type: number): number {
  return responses.filter(({ output_events = [] }) => output_events.some(({ event_type }) => event_type === type)).length;
}

describe('a turn that opens where its call does not live', () => {
  it('G-15 is answered by its home, which alone counts the call and its turns', async () => {
    const { near, far } = await servers();
    const call = near.platform().call();
    expect((await call.turn(START)).trailerTexts).toEqual(['Welcome.']);
    const open = call.open(keys('1'));
    await until('it is answered', () => open.responses.length > 0);
    expect(open.responses).toHaveLength(1);
    const direct = far.platform().call(call.ids);
    expect((await direct.turn(keys('2'))).trailerTexts).toEqual(['Turn 2.']);
    expect([near.engine.sessions.size, far.engine.sessions.size]).toEqual([0, 1]);
    await until('no turn is left', () => near.admission.streams === 0 && far.admission.streams === 0);
    expect(near.homes.asked[0]).toEqual({ opensWith: 'start' });
    expect(far.homes.asked[0]).toEqual({ opensWith: 'start', forwarded: { isTaking: false } });
  });

  it('says to its home whether that is to take the call', async () => {
    const { near, far } = await servers();
    near.homes.answers = [at(far, true)];
    await near.platform().call().turn(START);
    expect(far.homes.asked[0]?.forwarded).toEqual({ isTaking: true });
  });

  it('gets "not mine" before the engine sees it, goes no further, and is answered where the call lives by then', async () => {
    const { near, far } = await servers();
    near.homes.answers = [at(far), { kind: 'here' }];
    far.homes.answers = [at(near)];
    expect((await near.platform().call().turn(START)).trailerTexts).toEqual(['Welcome.']);
    expect(near.homes.losses).toEqual([{ home: 'far', why: 'not_mine' }]);
    expect([near.engine.sessions.size, far.engine.sessions.size]).toEqual([1, 0]);
    expect([near.engine.seen, far.engine.seen].map((seen) => seen.includes('session_started'))).toEqual([true, false]);
    await until('no turn is left', () => near.admission.streams === 0 && far.admission.streams === 0);
  });

  it('is taken by no other instance that has the address of its home by now', async () => {
    const { near, far } = await servers();
    near.homes.answers = [{ kind: 'at_peer', home: { ...far.peer, id: 'before' }, isTaking: false }, { kind: 'here' }];
    expect((await near.platform().call().turn(START)).trailerTexts).toEqual(['Welcome.']);
    expect(near.homes.losses).toEqual([{ home: 'before', why: 'not_mine' }]);
    expect(far.homes.asked).toEqual([]);
  });

  it('G-02 has its token checked again at its home', async () => {
    const table = new Table();
    const near = await ForwardingServer.start('near', { table, bots: [counting] });
    const far = await ForwardingServer.start('far', { table, bots: [counting], isGood: (token) => token === 'good' });
    near.homes.answers = [at(far)];
    const refused = await near.platform('bad').call().turn(START);
    expect(refused.ending).toMatchObject({ code: status.UNAUTHENTICATED, details: 'token refused' });
    expect(far.engine.sessions.size).toBe(0);
    expect((await near.platform('good').call().turn(START)).ending.code).toBe(status.OK);
  });

  it('is refused when as many are forwarded as may be, and stays counted nowhere', async () => {
    const { near } = await servers({ maxForwarded: 0 });
    expect((await near.platform().call().turn(START)).ending).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    await until('no turn is left', () => near.admission.streams === 0);
  });

  it('G-7C gets no prompts when its call is over everywhere', async () => {
    const { near } = await servers();
    near.homes.answers = [{ kind: 'ended' }];
    const { ending, responses } = await near.platform().call().turn(event('NO_INPUT'));
    expect(ending.code).toBe(status.OK);
    expect(responses.map(({ prompts = [] }) => prompts.length)).toEqual([0]);
  });

  it('G-80 completes without a response when it has no input and its call is over everywhere', async () => {
    const { near } = await servers();
    near.homes.answers = [{ kind: 'ended' }];
    for (const input of [quiet(200), [event('START_OF_DTMF')]]) {
      const { ending, responses } = await near
        .platform()
        .call()
        .turn(...input);
      expect({ code: ending.code, responses }).toEqual({ code: status.OK, responses: [] });
    }
  });
});

describe('a forwarded turn that ends in the middle of its reply', () => {
  /** Says two prompts; the sound of the second one comes when the test says so. */
  async function midReply() {
    const gate = gateOf();
    class SlowVoice extends FakeVoice {
      override render(prompt: Prompt): Sound | Promise<Sound> {
        const sound = super.render(prompt);
        return prompt.kind === 'text' && prompt.text === 'Rest.' ? gate.opened.then(() => sound) : sound;
      }
    }
    const talking = bot<{ readonly turns: number }>({
      ...{ id: 'counting', name: 'Counting', version: 1 },
      session_start: () => go({ turns: 0 }, say('Welcome.').listen()),
      otherwise: ({ turns }) =>
        go(
          { turns: turns + 1 },
          say(`Turn ${String(turns + 1)}.`)
            .say('Rest.')
            .listen(),
        ),
    });
    const { near, far } = await servers({ mode: 'chunk', bots: [talking], voice: new SlowVoice() });
    const wire = await startRelay(Number(far.peer.address.split(':')[1]));
    near.homes.answers = [{ kind: 'at_peer', home: { ...far.peer, address: wire.target.replace('grpc://', '') }, isTaking: false }];
    const call = near.platform().call();
    await call.turn(START);
    const turn = call.open(keys('1'));
    await until('the reply has begun', () => turn.responses.length > 0);
    const answered = async (): Promise<unknown> => {
      await until('the turn is over at its home', () => far.admission.streams === 0);
      gate.open();
      return (await far.platform().call(call.ids).turn(keys('1'))).trailerTexts;
    };
    return { turn, wire, answered };
  }

  it('was not answered when it ended with the connection of its forwarder: its input comes again', async () => {
    const { wire, answered } = await midReply();
    wire.close();
    expect(await answered()).toEqual(['Turn 1.', 'Rest.']);
  });

  it('G-16 was answered when the platform cancelled it', async () => {
    const { turn, answered } = await midReply();
    turn.cancel();
    expect(await answered()).toEqual(['Turn 2.', 'Rest.']);
  });
});

describe('a forwarded reply', () => {
  const FINAL = Buffer.concat(wire.responses({ kind: 'final', mode: 'wav', prompts: [], next: { kind: 'gone' } }));

  it('is known to be delivered once the platform has it', async () => {
    const table = new Table();
    const near = await ForwardingServer.start('near', { table, bots: [counting] });
    const home = await Home.open('home', { known: table, path: PATHS.callerInput });
    near.homes.answers = [at(home)];
    const turn = near.platform().call().open(keys('1'));
    const there = await home.turn();
    there.stream.write(FINAL);
    there.stream.end();
    // Without a word of its forwarder this takes seconds of the clock, which stands still.
    expect(await within('its home hears it', there.delivered())).toBe(true);
    expect(turn.ending?.code).toBe(status.OK);
  });

  it('is known to be delivered before a server that stops in good order closes its connections', async () => {
    const table = new Table();
    const near = await ForwardingServer.start('near', { table, bots: [counting] });
    const home = await Home.open('home', { known: table, path: PATHS.callerInput });
    near.homes.answers = [at(home)];
    const turn = near.platform().call().open(keys('1'));
    const there = await home.turn();
    const over = near.relays.over(60_000).then(() => {
      near.links.close();
    });
    there.stream.write(FINAL);
    there.stream.end();
    expect(await within('its home hears it', there.delivered())).toBe(true);
    await within('nothing is forwarded any more', over);
    await turn.ended();
    expect(turn.ending?.code).toBe(status.OK);
  });

  it('is known to be lost when the connection of its forwarder is gone first', async () => {
    const table = new Table();
    const near = await ForwardingServer.start('near', { table, bots: [counting] });
    const home = await Home.open('home', { known: table, path: PATHS.callerInput });
    near.homes.answers = [at(home), { kind: 'here' }];
    near.platform().call().open(keys('1'));
    const there = await home.turn();
    const delivered = there.delivered();
    home.kill();
    expect(await within('its home hears it', delivered)).toBe(false);
    expect(await there.delivered()).toBe(false);
  });
});

describe('what comes from outside under the names of peers', () => {
  it('has no effect on a server that answers the turn itself', async () => {
    const { near } = await servers();
    near.homes.answers = [{ kind: 'here' }];
    const client = near.platform();
    const metadata = { 'parley-forward-to': 'near', 'parley-take': '1', 'parley-turn': 'x', 'parley-sent': 'start_of_input,end_of_input' };
    await client.call({ conversationId: 'c' }).turn(START);
    const turn = client
      .open({ metadata })
      .send(...[...quiet(1000), ...SENTENCE, ...quiet(2000)].map((input) => client.call({ conversationId: 'c' }).message(input)));
    await turn.ended();
    expect(eventsOf(turn.responses, EVENT_OUTPUT.START_OF_INPUT)).toBe(1);
    expect(near.homes.asked.at(-1)).toEqual({ opensWith: 'nothing' });
  });
});

describe('a turn whose home dies', () => {
  it('G-36 G-38 is answered from what was held, by a server that takes the call over, and hears no event twice', async () => {
    const table = new Table();
    const near = await ForwardingServer.start('near', { table, bots: [counting] });
    const dying = await Home.open('dying', { known: table, path: PATHS.callerInput });
    const client = near.platform();
    const call = client.call();
    await call.turn(START);
    near.homes.answers = [at(dying), { kind: 'here' }];
    const turn = call.open(...quiet(1000), ...SENTENCE);
    const there = await dying.turn();
    await until('its home has the caller so far', () => there.received.length === 50 + SENTENCE.length);
    there.stream.write(Buffer.concat(wire.responses({ kind: 'input_started' })));
    await until('the platform knows that the caller speaks', () => turn.responses.length === 1);
    dying.kill();
    await until('this server has it', () => near.admission.streams === 1);
    turn.send(...quiet(2000).map((input) => call.message(input)));
    const { code } = await turn.ended();
    expect(code).toBe(status.OK);
    expect(turn.trailerTexts).toEqual(['Turn 1.']);
    expect(eventsOf(turn.responses, EVENT_OUTPUT.START_OF_INPUT)).toBe(1);
    expect(eventsOf(turn.responses, EVENT_OUTPUT.END_OF_INPUT)).toBe(1);
    await until('no turn is left', () => near.admission.streams === 0);
  });

  it('G-12 is half-closed at the server that takes it over when it was before', async () => {
    const table = new Table();
    const near = await ForwardingServer.start('near', { table, bots: [counting] });
    const dying = await Home.open('dying', { known: table, path: PATHS.callerInput });
    near.homes.answers = [at(dying), { kind: 'here' }];
    const turn = near.platform().call().open(START).halfClose();
    const there = await dying.turn();
    await until('its home sees it', () => there.isHalfClosed);
    dying.kill();
    expect((await turn.ended()).code).toBe(status.OK);
    expect(turn.trailerTexts).toEqual(['Welcome.']);
  });

  it('leaves its caller with a person when no home can be reached (U-06), and a caller who listens with a status', async () => {
    const table = new Table();
    const near = await ForwardingServer.start('near', { table, bots: [counting] });
    const dead = await Home.open('dead', { known: table, path: PATHS.callerInput });
    dead.kill();
    near.homes.answers = [at(dead)];
    const { ending, trailerTexts, responses } = await near.platform().call().turn(START);
    expect(ending.code).toBe(status.OK);
    expect(trailerTexts).toEqual(['I will connect you.']);
    expect(eventsOf(responses, EVENT_OUTPUT.TRANSFER_TO_AGENT)).toBe(1);
    const silent = near
      .platform()
      .call()
      .open(...quiet(100));
    expect(await silent.ended()).toMatchObject({ code: status.UNAVAILABLE });
    await until('no turn is left', () => near.admission.streams === 0);
  });

  it('leaves a caller who listens with a person as well when nobody can restore the call (U-06)', async () => {
    const { near } = await servers();
    near.homes.answers = [new AppError('state_unreadable', 'written by a newer version')];
    const listening = near
      .platform()
      .call()
      .open(...quiet(100));
    expect(await listening.ended()).toMatchObject({ code: status.OK });
    expect(listening.trailerTexts).toEqual(['I will connect you.']);
    expect(eventsOf(listening.responses, EVENT_OUTPUT.TRANSFER_TO_AGENT)).toBe(1);
  });

  it('leaves a caller with a person also when nobody can say where the call lives', async () => {
    const { near } = await servers();
    near.homes.answers = [new AppError('store_unavailable', 'nobody knows')];
    expect((await near.platform().call().turn(keys('1'))).trailerTexts).toEqual(['I will connect you.']);
    const { ending, responses } = await near.platform().call().turn(event('SESSION_END'));
    expect([ending.code, responses.length]).toEqual([status.OK, 1]);
  });

  it('G-61 leaves a caller who presses keys with a person as well: their start is completed without a word', async () => {
    const { near } = await servers();
    near.homes.answers = [new AppError('store_unavailable', 'nobody knows'), new AppError('store_unavailable', 'nobody knows')];
    const call = near.platform().call();
    const { ending, responses } = await call.turn(event('START_OF_DTMF'));
    expect([ending.code, responses.length]).toEqual([status.OK, 0]);
    expect((await call.turn(keys('1'))).trailerTexts).toEqual(['I will connect you.']);
    await until('no turn is left', () => near.admission.streams === 0);
  });
});
