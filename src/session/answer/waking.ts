// When a bot is woken: the platform's report of no input is its timer, and the chance to tell it what came from outside.
import type { Bot } from '../../bot/bot.ts';
import { TIMER, type Woken } from '../../bot/wakes.ts';
import type { ListenSettings } from '../../dialog/output.ts';
import type { Listen } from '../../dialog/reply.ts';
import type { Conversation } from '../conversation.ts';
import type { CompleteInput } from './caller-event.ts';

/** Least time of a report of no input that is all but due, ms: 0 would be never (G-82). */
const LEAST_MS = 100;

/** A listen whose report of no input comes when the bot is to be woken, or after what is left of its time. */
export function timedListen(
  { wakeMs = Infinity, ...listen }: Listen,
  { bot, silentMs = 0 }: { readonly bot: Pick<Bot, 'woken'>; readonly silentMs?: number | undefined },
  defaults: ListenSettings,
): Listen {
  const noInputMs = noInputOf(listen, defaults);
  const leftMs = Math.max(noInputMs - silentMs, Math.min(noInputMs, LEAST_MS));
  const reportMs = bot.woken === undefined ? noInputMs : Math.min(wakeMs, leftMs);
  return { ...listen, noInputMs: reportMs === Infinity ? 0 : reportMs };
}

/** The event of a report of no input, or of a custom event, that wakes the bot; undefined: it does not. */
export function wokenBy(
  { act, completeAtMs, heard }: CompleteInput,
  conversation: Conversation,
  defaults: ListenSettings,
): Woken | undefined {
  const { bot, snapshot, wakes } = conversation;
  // A custom event says something: it is no mere chance to a bot that has a handler for it.
  if (bot.woken === undefined || (act.kind === 'custom_event' && bot.handlers.includes('custom_event'))) return undefined;
  const sinceReplyMs = silenceMs(conversation, act.kind === 'no_input', completeAtMs);
  const silentMs = (snapshot.silentMs ?? 0) + sinceReplyMs;
  const { listen } = snapshot;
  const isTimer = act.kind === 'no_input' && sinceReplyMs >= (listen.wakeMs ?? Infinity) && silentMs < noInputOf(listen, defaults);
  const wake = wakes.next() ?? (isTimer ? { name: TIMER, data: null } : undefined);
  return wake === undefined ? undefined : { type: 'woken', ...wake, heard, silentMs };
}

function noInputOf({ noInputMs }: Listen, defaults: ListenSettings): number {
  const ms = noInputMs ?? defaults.noInputMs;
  return ms === 0 ? Infinity : ms;
}

/** How long the caller has been silent since the last reply, ms. A socket's platform takes its own time to report it; others take ours. */
function silenceMs({ isTied, asked, playout, listeningSinceMs }: Conversation, isReport: boolean, nowMs: number): number {
  if (isReport && !isTied && asked.noInputMs > 0) return asked.noInputMs;
  const ms = Math.min(nowMs - listeningSinceMs, playout.silentMs(nowMs));
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : 0;
}
