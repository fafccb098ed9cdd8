// The next step that the platform gets at the end of a reply: with all defaults, and with the data of a transfer under the
// platform's names.
import type { JsonObject } from '../../base/json.ts';
import type { FinalNext, ListenSettings } from '../../dialog/output.ts';
import type { Listen, Next, Transfer } from '../../dialog/reply.ts';

/**
 * Completes a bot's next step.
 *
 * @param defaults - settings for what a listen leaves out.
 * @param transcript - of the whole session, for its last response (G-7B); undefined when none is kept.
 */
export function finalNext(next: Next, defaults: ListenSettings, transcript?: string): FinalNext {
  switch (next.kind) {
    case 'listen':
      return { kind: 'listen', ...listenSettings(next, defaults), event: next.event };
    case 'transfer':
      return { kind: 'transfer', summary: next.summary, transcript, metadata: transferMetadata(next) };
    case 'end':
      return { kind: 'end', summary: next.summary, transcript, metadata: { outcome: next.outcome } };
  }
}

/** The platform's settings for a listen. */
export function listenSettings(
  { kind: _, speech: __, event: ___, language: ____, hints: _____, wakeMs: ______, ...listen }: Listen,
  defaults: ListenSettings,
): ListenSettings {
  return { ...defaults, ...listen };
}

// G-79 defines summary and routing_hint; reason and fields are our additions.
function transferMetadata(next: Transfer): JsonObject {
  return {
    reason: next.reason,
    ...(next.summary === undefined ? {} : { summary: next.summary }),
    ...(next.routingHint === undefined ? {} : { routing_hint: next.routingHint }),
    ...(next.fields === undefined ? {} : { fields: next.fields }),
  };
}
