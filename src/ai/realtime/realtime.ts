// A speech-to-speech assistant as a complete bot.
import type { JsonObject } from '../../base/json.ts';
import type { Bot, BotDefinition } from '../../bot/bot.ts';
import { botOf } from '../assistant.ts';
import { realtimeStep, type RealtimeOptions } from './realtime-step.ts';

/** Options that a complete bot has in addition to those of its step. */
export interface RealtimeBotOptions<D extends JsonObject = JsonObject>
  extends Omit<RealtimeOptions<D>, 'exits'>, Pick<BotDefinition<never>, 'id' | 'name' | 'voice' | 'speech' | 'filler'> {
  /** See {@link BotDefinition.version}. Default 1. */
  readonly version?: number;
}

/**
 * Makes a bot of a speech-to-speech model: it hears the caller and answers in its own voice. Tools, keys, failures and interruptions work
 * as in {@link assistant}. When the caller interrupts, the service truncates its conversation there.
 * @throws TypeError for invalid options.
 * @example
 * export default realtime({ id: 'talk', name: 'Talk', url: 'wss://models.example.org/v1/realtime', model: 'speech', key, instructions:
 * 'You help.', greeting: 'Hello.' });
 */
export function realtime<D extends JsonObject = JsonObject>(options: RealtimeBotOptions<D>): Bot {
  const step = realtimeStep(options);
  return botOf({ ...options, step, connection: step.live, recognition: options.fallback === undefined ? 'none' : 'engine' });
}
