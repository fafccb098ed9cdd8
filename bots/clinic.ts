// A menu, an assistant behind it, and a card number that no model sees: an assistant is a step of a bot like any other.
import { bot, go, say } from 'parley-voice';
import { assistantStep, exit, z, type AssistantState, type AssistantTurn, type LanguageModel } from 'parley-voice/ai';
import { model as configured } from './lib/model.ts';
import { practice } from './lib/practice.ts';

type State = { at: 'menu' } | { at: 'desk' | 'card'; desk: AssistantState };

const menu = say('Press 1 to talk about your bill.').listen({ digits: 1 });
const card = say('Please key in your card number.').listen({ digits: 16, accept: 'keys', sensitive: true });
const atDesk = (desk: AssistantState): State => ({ at: 'desk', desk });
const next = (turn: AssistantTurn) =>
  turn.exit === undefined ? go(atDesk(turn.state), turn.reply) : go<State>({ at: 'card', desk: turn.state }, card);

/** With any model; the tests give it one whose answers are written down. */
export const clinic = (model: LanguageModel) => {
  const desk = assistantStep({
    model,
    instructions: 'You explain bills of 80 euros for a filling. When the caller wants to pay, use take_card.',
    greeting: 'Your bill is open. What would you like to know?',
    exits: { take_card: exit('Takes a card payment', z.object({ euros: z.number() })) },
  });
  return bot<State>({
    id: 'clinic',
    name: 'Clinic',
    version: 1,
    session_start: () => go<State>({ at: 'menu' }, menu),
    async *otherwise(state, event, context) {
      const digits = event.type === 'dtmf_input' ? event.digits : '';
      if (state.at === 'menu') return digits === '1' ? next(desk.begin(context.call)) : go<State>(state, menu);
      if (state.at === 'desk') return next(yield* desk.turn(state.desk, event, context, atDesk));
      if (digits.length !== 16) return go<State>(state, card);
      return next(yield* desk.resume(state.desk, { paidWithCardEnding: practice.charge(digits) }, context, atDesk));
    },
  });
};

export default clinic(configured);
