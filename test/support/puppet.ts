// Orders for the bot of test/fixtures/rule-bots: tests over the wire decide what it answers.
import { packageRoot } from '../../src/base/package-root.ts';
import type { Reply } from '../../src/bot/index.ts';
import { EVENT_INPUT, type MediaRequest } from '../../src/contract/grpc.ts';
import { structFromJson } from '../../src/contract/struct.ts';
import { throughJson, type JsonObject } from '../../src/base/json.ts';
import { TEST_SPEECH } from './running-server.ts';

/** Flags that load the puppet and nobody else, with the recordings of test/fixtures/speech. */
export const WITH_PUPPET = [`--bots.folder=${packageRoot()}/test/fixtures/rule-bots`, `--bots.prompts_folder=${TEST_SPEECH}`];

/** What the puppet is to answer now, and what to every later input; or how it is to fail at the next digits. */
export interface Orders {
  readonly reply?: Reply;
  readonly later?: Reply | 'throw' | 'reject' | 'throw_later';
}

/** SESSION_START with orders. */
export function started(orders: Orders = {}): Pick<MediaRequest, 'event_input'> {
  return { event_input: { event_type: EVENT_INPUT.SESSION_START, parameters: structFromJson(asJson(orders)) } };
}

/** A custom event of the flow with orders. */
export function ordered(orders: Orders, name = 'order'): Pick<MediaRequest, 'event_input'> {
  return { event_input: { event_type: EVENT_INPUT.CUSTOM_EVENT, name, parameters: structFromJson(asJson(orders)) } };
}

function asJson(orders: Orders): JsonObject {
  const json = throughJson(orders);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error('orders are an object');
  return json as JsonObject;
}
