import { describe, expect, it } from 'vitest';
import { assistant, assistantStep, exit, keyed, scripted, z, type AssistantState, type AssistantTurn } from '../../../src/ai/index.ts';
import { bot, go, say, type Answer } from '../../../src/bot/index.ts';
import { TestCall } from '../../../src/bot/testing.ts';
import type { TurnReport } from '../../../src/dialog/turn-report.ts';

type State = { readonly at: 'menu' } | { readonly at: 'desk' | 'card'; readonly desk: AssistantState };

function clinic(model: ReturnType<typeof scripted>) {
  const stored: string[] = [];
  const desk = assistantStep({
    ...{ model, instructions: 'You book.', greeting: 'What can I do?' },
    exits: { take_card: exit('Takes the card', z.object({ amount: z.number() })) },
  });
  const card = say('Please key in your card number.').listen({ digits: 4, accept: 'keys', sensitive: true });
  const atDesk = (state: AssistantState): State => ({ at: 'desk', desk: state });
  const next = (turn: AssistantTurn): Answer<State> =>
    turn.exit === undefined ? go<State>(atDesk(turn.state), turn.reply) : go<State>({ at: 'card', desk: turn.state }, card);
  const made = bot<State>({
    ...{ id: 'clinic', name: 'Clinic', version: 1 },
    session_start: () => go<State>({ at: 'menu' }, say('Press 1.').listen({ digits: 1 })),
    async *otherwise(state, event, context) {
      if (state.at === 'menu') return next(desk.begin(context.call));
      if (state.at === 'desk') return next(yield* desk.turn(state.desk, event, context, atDesk));
      if (event.type !== 'dtmf_input' || event.digits.length !== 4) return go<State>(state, card);
      stored.push(event.digits);
      return next(yield* desk.resume(state.desk, { stored: true }, context, atDesk));
    },
  });
  return { call: new TestCall(made), stored };
}

describe('an assistant as a step', () => {
  it('leaves through an exit and goes on with its outcome; no model and no state sees the digits', async () => {
    const model = scripted({ use: 'take_card', input: { amount: 20 } }, 'It is paid.');
    const { call, stored } = clinic(model);
    (await (await call.start()).press('1')).hears('What can I do?');
    (await call.speak('I want to pay')).hears('Please key in your card number.');
    (await call.press('4111')).hears('It is paid.');
    expect(stored).toEqual(['4111']);
    expect(JSON.stringify([model.asked, call.state])).not.toContain('4111');
    expect(JSON.stringify(model.asked[1]?.prompt)).toContain('{\\"stored\\":true}');
  });

  it('knows what the bot around it said in between', async () => {
    const model = scripted({ use: 'take_card', input: { amount: 20 } }, 'It is paid.', 'You are welcome.');
    const { call } = clinic(model);
    await (await call.start()).press('1');
    await call.speak('pay');
    await call.press('4111');
    await call.speak('thanks');
    expect(JSON.stringify(model.asked[2]?.prompt)).toContain('It is paid.');
  });
});

describe('digits that no model sees', () => {
  function payDesk(use: (digits: string) => string | undefined, ...answers: readonly string[]) {
    const model = scripted({ use: 'take_pin' }, ...answers);
    const take_pin = keyed({ description: 'Asks for the PIN', ask: 'Your PIN, please.', digits: 4, tries: 2, use });
    const turns: TurnReport[] = [];
    const manners = { instructions: '', greeting: 'Hello.', onTurn: (turn: TurnReport) => turns.push(turn) };
    return { model, turns, call: new TestCall(assistant({ id: 'pay', name: 'Pay', model, ...manners, tools: { take_pin } })) };
  }

  it('are asked for as sensitive keys and given to the author alone', async () => {
    const seen: string[] = [];
    const { call, model, turns } = payDesk((digits) => {
      seen.push(digits);
      return 'valid';
    }, 'Thank you.');
    (await (await call.start()).speak('here is my PIN')).hears('Your PIN, please.');
    expect(call.reply.next).toMatchObject({ digits: 4, accept: 'keys', sensitive: true });
    (await call.press('1234')).hears('Thank you.');
    expect(seen).toEqual(['1234']);
    expect(turns.at(-1)?.tools).toMatchObject([{ name: 'take_pin', ok: true }]);
    expect(JSON.stringify([model.asked, call.state, call.kept, turns])).not.toContain('1234');
  });

  it('are asked for again when they are wrong, and given up in the end', async () => {
    const { call, model } = payDesk(() => undefined, 'Then we do without.');
    await (await call.start()).speak('here is my PIN');
    (await call.press('1234')).hears('Your PIN, please.');
    (await call.speak('one two')).hears('Then we do without.');
    expect(JSON.stringify(model.asked[1]?.prompt)).toContain('the caller did not key it in');
  });
});

describe('an assistant with several languages', () => {
  it('changes to another one with its voice, its phrases and what it listens for', async () => {
    const model = scripted({ use: 'switch_language', input: { language: 'es' } }, { fails: 'error' });
    const call = new TestCall(
      assistant({
        ...{ id: 'desk', name: 'Desk', model, instructions: '', greeting: 'Hello.' },
        languages: { es: { voice: 'marta', greeting: 'Hola.' } },
      }),
    );
    (await (await call.start()).speak('español por favor')).hears('Hola.');
    expect(call.prompts[0]).toMatchObject({ voice: 'marta', language: 'es' });
    expect(call.reply.next).toMatchObject({ language: 'es' });
    (await call.speak('hola')).hears('he perdido el hilo');
  });
});

describe('the end of a call', () => {
  it('is reported with the history and the data, after the last tool', async () => {
    const ends: unknown[] = [];
    const model = scripted('Yes.');
    const call = new TestCall(
      assistant({
        ...{ id: 'desk', name: 'Desk', model, instructions: '', greeting: 'Hello.', data: { name: 'Ada' } },
        onEnd: (end) => ends.push(end),
      }),
    );
    await (await call.start()).speak('are you there?');
    await call.hangUp();
    expect(ends).toEqual([expect.objectContaining({ by: 'caller', data: { name: 'Ada' }, tokens: 15 })]);
  });
});
