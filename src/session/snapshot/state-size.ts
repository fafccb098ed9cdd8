// How much a bot may keep of a call.
import { AppError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';

/** @throws AppError `bot_failed` for a state of more than `limitBytes` of JSON. */
export function demandSmall(state: JsonValue, limitBytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(state));
  if (bytes > limitBytes) {
    throw new AppError('bot_failed', 'the bot keeps more state than a snapshot may hold', { details: { bytes, limitBytes } });
  }
}
