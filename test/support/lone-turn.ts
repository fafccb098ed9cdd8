// One turn without a session behind it: its listener writes down what happens on it, its sink keeps what it delivered.
import type { Input } from '../../src/dialog/input.ts';
import type { TurnFact } from '../../src/session/turn/turn-facts.ts';
import { Turn, type TurnListener } from '../../src/session/turn/turn.ts';
import { TEST_SETTINGS } from './engine.ts';
import { MemorySink } from './memory-transport.ts';

const CALL = { organizationId: 'org', conversationId: 'call', agentId: 'agent', startedAtMs: 0, vendorConfig: '', parameters: {} };

/** Keeps what happens as `name detail`, in order; messages that merely arrive are left out. */
class NotingListener implements TurnListener {
  readonly facts: string[] = [];

  touched(): void {
    // Says nothing about what a turn does.
  }

  listen(): void {
    this.facts.push('listen');
  }

  happened(_turn: Turn, fact: TurnFact): void {
    this.facts.push(shown(fact));
  }
}

function shown(fact: TurnFact): string {
  switch (fact.kind) {
    case 'end_suspected':
      return `end_suspected ${String(fact.isSuspected)}`;
    case 'key_started':
      return `key_started ${fact.isReplyDropped ? 'over its own reply' : 'beside it'}`;
    case 'input_complete':
      return `input_complete ${fact.input.kind}`;
    case 'closed':
      return `closed ${fact.end}`;
    default:
      return fact.kind;
  }
}

/** A turn with what happens on it and what it says to its wire. */
export interface LoneTurn {
  readonly turn: Turn;
  readonly sink: MemorySink;
  /** See `NotingListener`. */
  readonly facts: string[];
}

/** Opens a turn and gives it `inputs`. */
export function loneTurn(inputs: readonly Input[] = [], number = 1, sink = new MemorySink()): LoneTurn {
  const listener = new NotingListener();
  const turn = new Turn(
    { id: `call#${String(number)}`, number },
    { call: CALL, mode: 'chunk', asked: TEST_SETTINGS.listen, isWithoutWords: false },
    listener,
    sink,
  );
  for (const input of inputs) turn.push(input);
  return { turn, sink, facts: listener.facts };
}

/** A turn that another server forwarded, which takes it back or does not. */
export function forwardedTurn(inputs: readonly Input[], isTakenBack: boolean): LoneTurn {
  return loneTurn(inputs, 1, Object.assign(new MemorySink(), { forwardedId: 'turn-1', giveBack: () => isTakenBack }));
}

/** A turn on which the caller is speaking. */
export function hearingTurn(number = 1): LoneTurn {
  const lone = loneTurn([{ kind: 'audio', audio: new Uint8Array(160) }], number);
  lone.turn.heard('speech_started');
  return lone;
}

/** A turn that owes the answer to a key. */
export function answeringTurn(number = 1): LoneTurn {
  return loneTurn([{ kind: 'dtmf', digits: '1' }], number);
}
