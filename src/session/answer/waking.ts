// When a bot is woken: the platform's report of no input serves as a timer, and as a chance to pass on events from outside.
import type { Bot } from '../../bot/bot.ts';
import { isTimer, reportAfterMs, TIMER, type Woken } from '../../bot/wakes.ts';
import type { ListenSettings } from '../../dialog/output.ts';
import type { Listen } from '../../dialog/reply.ts';
import type { Conversation } from '../conversation.ts';
import type { Heard } from '../../dialog/heard.ts';

/** A listen whose report of no input comes when the bot must be woken, or when the rest of its no-input time is over. */
export function timedListen(
  { wakeMs, ...listen }: Listen,
  { bot, silentMs }: { readonly bot: Pick<Bot, 'woken'>; readonly silentMs: number | undefined },
  defaults: ListenSettings,
): Listen {
  return bot.woken === undefined
    ? listen
    : { ...listen, noInputMs: reportAfterMs({ noInputMs: defaults.noInputMs, ...listen, wakeMs, silentMs }) };
}

/** The event for a report of no input that wakes the bot; undefined when it does not. */
export function wokenBy(
  { completeAtMs, heard }: { readonly completeAtMs: number; readonly heard: Heard },
  conversation: Conversation,
  defaults: ListenSettings,
): Woken | undefined {
  const { bot, snapshot, wakes } = conversation;
  if (bot.woken === undefined) return undefined;
  const sinceReplyMs = silenceMs(conversation, completeAtMs);
  const { silentMs = 0, listen } = snapshot;
  const isDue = isTimer({ noInputMs: defaults.noInputMs, ...listen, silentMs }, sinceReplyMs);
  const wake = wakes.next() ?? (isDue ? { name: TIMER, data: null } : undefined);
  return wake === undefined ? undefined : { type: 'woken', ...wake, heard, silentMs: silentMs + sinceReplyMs };
}

/** The caller's silence since the last reply, ms: measured for a WebSocket, whose platform takes its own time; else the time we set. */
function silenceMs({ isTied, asked, playout, listeningSinceMs }: Conversation, nowMs: number): number {
  if (!isTied && asked.noInputMs > 0) return asked.noInputMs;
  const ms = Math.min(nowMs - listeningSinceMs, playout.silentMs(nowMs));
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : 0;
}
