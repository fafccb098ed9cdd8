// A caller without manners: repeats starts, cancels streams in the middle, talks on two at once, sends events of the flow. What
// comes back is checked by the rules of each RPC; who may speak when is left open, because such a call has no right order.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../src/base/clock.ts';
import { loadProfile } from '../src/contract/profile.ts';
import { TurnCheck, type CallMemory, type TurnKind } from '../src/fake-platform/caller/turn-check.ts';
import { GrpcConnection } from '../src/fake-platform/lines/grpc-line.ts';
import type { Line, LineTurn, PlatformInput } from '../src/fake-platform/lines/line.ts';
import { parseTarget } from '../src/fake-platform/lines/target.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../src/speech/audio-format.ts';
import type { CallAccess } from './soak-calls.ts';
import type { RoughAction, RoughPlan } from './soak-plans.ts';

/** One thing that was wrong. */
export interface RoughFinding {
  readonly code: string;
  readonly rule?: string;
  readonly message: string;
  readonly turn: number;
}

/** How such a call went. */
export interface RoughResult {
  readonly turns: number;
  readonly findings: readonly RoughFinding[];
  readonly timeline: readonly string[];
}

/** Longest wait for the completion of an RPC, ms: a farewell is played to its end before it (G-7A). */
const COMPLETION_LIMIT_MS = 60_000;
const CONNECT_LIMIT_MS = 20_000;
const START = { kind: 'session_start', name: '', parameters: {} } as const;
const SILENCE = new Uint8Array(0);

/** Places one such call. */
export async function placeRoughCall(plan: RoughPlan, access: CallAccess): Promise<RoughResult> {
  const connection = new GrpcConnection({
    target: parseTarget(`grpcs://localhost:${String(access.port)}`),
    profile: loadProfile('fake'),
    clock: systemClock,
    token: access.token,
    certificateAuthority: Buffer.from(access.certificatePem),
    connectLimitMs: CONNECT_LIMIT_MS,
  });
  const { organizationId } = access;
  const call = new RoughCall(
    connection.line({ conversationId: randomUUID(), organizationId, agentId: plan.agentId, vendorConfig: '', allowPartial: false }),
    access.phrases,
  );
  try {
    await call.run(plan);
  } finally {
    call.cancelAll();
    await connection.close();
  }
  return { turns: call.turns, findings: call.findings, timeline: call.timeline };
}

/** One RPC of such a call. */
interface RoughTurn extends Pick<LineTurn, 'send' | 'halfClose' | 'cancel'> {
  /** Sends frames at the caller's pace until they are over or the server has ended the RPC; silence when the sound is over. */
  speak(mulaw: Uint8Array, frames: number): Promise<void>;
  /** Waits until the server has ended it; takes it up when it does not. */
  completed(): Promise<void>;
}

class RoughCall {
  readonly findings: RoughFinding[] = [];
  readonly timeline: string[] = [];
  turns = 0;
  readonly #line: Line;
  readonly #phrases: readonly Uint8Array[];
  readonly #memory: CallMemory = { mode: undefined, hasEnded: false, allowPartial: false };
  readonly #open = new Set<RoughTurn>();
  readonly #startedAtMs = performance.now();

  constructor(line: Line, phrases: readonly Uint8Array[]) {
    this.#line = line;
    this.#phrases = phrases;
  }

  async run({ actions, end }: RoughPlan): Promise<void> {
    await this.#says(START).completed();
    for (const action of actions) {
      if (this.#memory.hasEnded) break;
      await this.#act(action);
    }
    if (end === 'cancel') this.cancelAll();
    if (end === 'hang_up') await this.#says({ kind: 'session_end' }).completed();
    for (const turn of this.#open) await turn.completed();
  }

  cancelAll(): void {
    for (const turn of this.#open) turn.cancel();
  }

  async #act(action: RoughAction): Promise<void> {
    switch (action.kind) {
      case 'start_again':
        return this.#says(START).completed();
      case 'custom_event':
        return this.#says({ kind: 'custom_event', name: 'from_the_flow', parameters: {} }).completed();
      case 'no_input':
        return this.#says({ kind: 'no_input' }).completed();
      case 'keys':
        if (action.isAnnounced) await this.#says({ kind: 'dtmf_start' }).completed();
        return this.#says({ kind: 'dtmf', keys: action.keys }).completed();
      case 'speech': {
        const turn = this.#turn('speech');
        await turn.speak(this.#phrases[action.phrase] ?? SILENCE, action.frames);
        if (action.end === 'cancel') turn.cancel();
        else turn.halfClose();
        return turn.completed();
      }
      case 'open_and_cancel':
      case 'cancel_reply': {
        const turn = action.kind === 'cancel_reply' ? this.#says({ kind: 'no_input' }) : this.#turn('speech');
        await pause(action.afterMs);
        turn.cancel();
        return turn.completed();
      }
      case 'overlap': {
        const turns = [this.#turn('speech'), this.#turn('speech')];
        await Promise.all(turns.map((turn) => turn.speak(SILENCE, action.frames)));
        for (const turn of turns.toReversed()) turn.halfClose();
        await Promise.all(turns.map((turn) => turn.completed()));
      }
    }
  }

  /** A whole input on an RPC of its own. */
  #says(input: PlatformInput & { readonly kind: TurnKind }): RoughTurn {
    const turn = this.#turn(input.kind);
    turn.send(input);
    turn.halfClose();
    return turn;
  }

  #turn(kind: TurnKind): RoughTurn {
    const number = (this.turns += 1);
    let [isCancelled, isOver] = [false, false];
    const note = (what: string): void => {
      this.timeline.push(`${(performance.now() - this.#startedAtMs).toFixed(0).padStart(7)}  #${String(number)} ${kind}  ${what}`);
    };
    const find = (finding: Omit<RoughFinding, 'turn'>): void => {
      note(`finds ${finding.code}: ${finding.message}`);
      this.findings.push({ ...finding, turn: number });
    };
    const check = new TurnCheck(this.#memory, (code, rule, message) => {
      // Two streams of one call may both be answered; the other one's farewell may come first.
      if (code !== 'prompt_after_terminal' && code !== 'second_terminal') find({ code, rule, message });
    });
    let finish = (): void => undefined;
    const over = new Promise<'over'>((resolve) => {
      finish = () => {
        resolve('over');
      };
    });
    const sent = this.#line.open({
      answered: (answer) => {
        note(`${answer.type} ${answer.event?.kind ?? ''} ${String(answer.prompts.length)} prompts`);
        // A cancelled stream may still bring what was on its way.
        if (!isCancelled) check.checkAnswer(kind, answer);
      },
      ended: (end) => {
        isOver = true;
        note(end.kind === 'broken' ? `broken: ${end.failure.message}` : 'completed');
        // Too many streams at once are refused, and a cancelled one ends as it likes.
        if (end.kind === 'broken' && !isCancelled && end.failure.code !== 'overloaded')
          find({ code: 'rpc_failed', message: end.failure.message });
        this.#open.delete(turn);
        finish();
      },
    });
    const turn: RoughTurn = {
      send: (input) => {
        sent.send(input);
      },
      halfClose: () => {
        note('half-close');
        sent.halfClose();
      },
      cancel: () => {
        note('cancel');
        isCancelled = true;
        sent.cancel();
      },
      speak: async (mulaw, frames) => {
        const startMs = performance.now();
        sent.send({ kind: 'audio_format' });
        for (let frame = 0; frame < frames && !isOver; frame += 1) {
          const audio = new Uint8Array(FRAME_SAMPLES).fill(0xff);
          audio.set(mulaw.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES));
          sent.send({ kind: 'audio', audio });
          await pause(Math.max(0, startMs + (frame + 1) * FRAME_MS - performance.now()));
        }
      },
      completed: async () => {
        const patience = new AbortController();
        const late = pause(COMPLETION_LIMIT_MS, 'late', { signal: patience.signal }).catch(() => 'over');
        const first = await Promise.race([over, late]);
        patience.abort();
        if (first === 'over') return;
        find({ code: 'not_completed', message: `the RPC was not over after ${String(COMPLETION_LIMIT_MS)} ms` });
        turn.cancel();
      },
    };
    this.#open.add(turn);
    return turn;
  }
}
