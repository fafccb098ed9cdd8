// Whether data of a user can travel with an event. Knows no event.
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { structFromJson } from '../../contract/struct.ts';

/** What is wrong with data to be sent, as a sentence for the user; undefined when it can be sent. */
export function unsendable(data: JsonObject): string | undefined {
  try {
    structFromJson(data);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}
