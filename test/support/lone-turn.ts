// One turn without a session behind it: its host writes down what it is asked for, its sink keeps what it delivered.
import type { TurnEnd } from '../../src/dialog/ending.ts';
import type { Input } from '../../src/dialog/input.ts';
import { Turn, type TurnHost, type TurnInput } from '../../src/session/turn/turn.ts';
import { TEST_SETTINGS } from './engine.ts';
import { MemorySink } from './memory-transport.ts';

/** Keeps every request as `name detail`, in order; messages that merely arrive are left out. */
class NotingHost implements TurnHost {
  readonly mode = 'chunk';
  readonly nextStream = { listen: TEST_SETTINGS.listen };
  readonly asked: string[] = [];

  touched(): void {
    // Says nothing about what a turn does.
  }

  listen(): void {
    this.asked.push('listen');
  }

  cutSpeech(): void {
    this.asked.push('cut_speech');
  }

  takeUtterance(): { readonly mulaw: Uint8Array; readonly durationMs: number } {
    return { mulaw: new Uint8Array(0), durationMs: 0 };
  }

  endSuspected(isSuspected: boolean): void {
    this.asked.push(`end_suspected ${String(isSuspected)}`);
  }

  inputStarted(): void {
    this.asked.push('input_started');
  }

  callerActed(turn: Turn, by: 'speech' | 'keys', spared?: Turn): void {
    this.asked.push(`caller_acted ${by} ${spared === undefined ? 'on everything' : spared === turn ? 'beside it' : 'beside another'}`);
  }

  inputComplete(_turn: Turn, { kind }: TurnInput): void {
    this.asked.push(`input_complete ${kind}`);
  }

  hungUp(): void {
    this.asked.push('hung_up');
  }

  refused(): void {
    this.asked.push('refused');
  }

  closed(_turn: Turn, end: TurnEnd): void {
    this.asked.push(`closed ${end}`);
  }
}

/** A turn with what it says to its host and to its wire. */
export interface LoneTurn {
  readonly turn: Turn;
  readonly sink: MemorySink;
  /** What it asked of its host: see `NotingHost`. */
  readonly asked: string[];
}

/** Opens a turn and gives it `inputs`. */
export function loneTurn(inputs: readonly Input[] = [], number = 1): LoneTurn {
  const host = new NotingHost();
  const sink = new MemorySink();
  const turn = new Turn({ id: `call#${String(number)}`, number }, host, sink);
  for (const input of inputs) turn.push(input);
  return { turn, sink, asked: host.asked };
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
