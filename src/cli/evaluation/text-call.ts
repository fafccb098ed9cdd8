// One run as text alone, without a server: the caller talks with the bot through `TestCall`.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import type { Bot } from '../../bot/bot.ts';
import { TestCall } from '../../bot/testing.ts';
import { nextAct, type SpokenLine } from './persona.ts';
import type { Run, Talked } from './run.ts';
import type { RunEnd } from './verdict.ts';

export async function textCall(bot: Bot, { persona, maxTurns, signal, random, onTokens }: Run): Promise<Talked> {
  const call = new TestCall(bot, { conversationId: randomUUID() });
  const lines: SpokenLine[] = [];
  const answerMs: number[] = [];
  const over = (end: RunEnd, broken?: string): Talked => ({ facts: { end, lines, tools: call.used, answerMs }, broken });
  const answered = async (work: () => Promise<unknown>): Promise<void> => {
    const beganAtMs = systemClock.monotonicMs();
    await work();
    answerMs.push(systemClock.monotonicMs() - beganAtMs);
    lines.push({ by: 'bot', text: call.heard });
  };
  try {
    await answered(() => call.start());
    for (let turn = 0; turn < maxTurns && call.reply.next.kind === 'listen'; turn += 1) {
      if (turn > 0 && random() < (persona.interrupts ?? 0)) await interrupted(call, lines, random);
      const act = await nextAct(persona, lines, signal, onTokens);
      if (act === undefined || act.kind === 'hang_up') {
        await call.hangUp();
        return over('hung_up', act === undefined ? 'the model of the caller failed' : undefined);
      }
      lines.push({ by: 'caller', text: act.kind === 'press' ? `[keys ${act.keys}]` : act.text });
      await answered(() => (act.kind === 'press' ? call.press(act.keys) : call.speak(act.text)));
    }
    const { kind } = call.reply.next;
    if (kind !== 'listen') return over(kind === 'end' ? 'ended' : 'transferred');
    await call.hangUp();
    return over('too_long');
  } catch (thrown) {
    return over('too_long', `the bot failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

/** Interrupts the last reply, and cuts its line to what the caller heard. */
async function interrupted(call: TestCall, lines: SpokenLine[], random: () => number): Promise<void> {
  const words = call.heard.split(' ');
  const heard = words.slice(0, Math.floor(random() * words.length)).join(' ');
  await call.interrupt('speech', { text: heard });
  lines.splice(-1, 1, { by: 'bot', text: `${heard} —`.trim() });
}
