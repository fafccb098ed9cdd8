// A caller without manners: repeats starts, cancels streams in the middle, talks on two at once, sends events of the flow. What
// comes back is checked by the rules of each RPC; who may speak when is left open, because such a call has no right order.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, credentials, Metadata, status, type ClientDuplexStream, type StatusObject } from '@grpc/grpc-js';
import { DTMF_KEY, EVENT_INPUT, loadContract, VOICE_ENCODING, type MediaRequest, type MediaResponse } from '../src/contract/grpc.ts';
import { loadProfile } from '../src/contract/profile.ts';
import { answerFromWire } from '../src/fake-platform/lines/from-wire.ts';
import { TurnCheck, type CallMemory, type TurnKind } from '../src/fake-platform/caller/turn-check.ts';
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../src/speech/audio-format.ts';
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

/** Where to call and who to be. */
export interface RoughAccess {
  /** `localhost:PORT`. */
  readonly target: string;
  readonly certificatePem: string;
  readonly token: string;
  readonly organizationId: string;
  /** Longest wait for the completion of an RPC, ms: the last words are played to their end before it (G-7A). */
  readonly completionLimitMs: number;
}

const contract = loadContract(loadProfile('fake'));
const rpc = contract.media.definition.ProcessCallerInput;
/** Statuses that a call without manners may get: too many streams at once, a stream without a message, a stopped server. */
const FAIR_REFUSALS: ReadonlySet<status> = new Set([status.RESOURCE_EXHAUSTED]);

/** Places one such call. */
export async function placeRoughCall(plan: RoughPlan, access: RoughAccess, phrases: readonly Uint8Array[]): Promise<RoughResult> {
  const call = new RoughCall(plan, access);
  try {
    await call.run(plan, phrases);
  } finally {
    call.close();
  }
  return { turns: call.turns, findings: call.findings, timeline: call.timeline };
}

class RoughCall {
  readonly findings: RoughFinding[] = [];
  readonly timeline: string[] = [];
  turns = 0;
  readonly #client: Client;
  readonly #access: RoughAccess;
  readonly #common: MediaRequest;
  readonly #memory: CallMemory = { mode: undefined, hasEnded: false, allowPartial: false };
  readonly #open = new Set<RoughTurn>();
  readonly #startedAtMs = performance.now();

  constructor({ agentId }: RoughPlan, access: RoughAccess) {
    this.#access = access;
    this.#common = { conversation_id: randomUUID(), customer_org_id: access.organizationId, virtual_agent_id: agentId };
    this.#client = new Client(access.target, credentials.createSsl(Buffer.from(access.certificatePem)), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
    });
  }

  async run(plan: RoughPlan, phrases: readonly Uint8Array[]): Promise<void> {
    await this.#event('session_start', EVENT_INPUT.SESSION_START).completed();
    for (const action of plan.actions) {
      if (this.#memory.hasEnded) break;
      await this.#act(action, phrases);
    }
    if (plan.end === 'cancel') for (const turn of this.#open) turn.cancel();
    if (plan.end === 'hang_up') await this.#event('session_end', EVENT_INPUT.SESSION_END).completed();
    for (const turn of this.#open) await turn.completed();
  }

  close(): void {
    for (const turn of this.#open) turn.cancel();
    this.#client.close();
  }

  async #act(action: RoughAction, phrases: readonly Uint8Array[]): Promise<void> {
    switch (action.kind) {
      case 'start_again':
        await this.#event('session_start', EVENT_INPUT.SESSION_START).completed();
        return;
      case 'custom_event':
        await this.#event('no_input', EVENT_INPUT.CUSTOM_EVENT, 'from_the_flow').completed();
        return;
      case 'no_input':
        await this.#event('no_input', EVENT_INPUT.NO_INPUT).completed();
        return;
      case 'keys': {
        if (action.isAnnounced) await this.#event('dtmf_start', EVENT_INPUT.START_OF_DTMF).completed();
        const turn = this.#turn('dtmf');
        turn.send({ dtmf_input: { dtmf_events: action.keys.map((key) => DTMF_KEY[key]) } });
        turn.halfClose();
        await turn.completed();
        return;
      }
      case 'speech': {
        const turn = this.#turn('speech');
        await turn.speak(phrases[action.phrase] ?? new Uint8Array(0), action.frames);
        if (action.end === 'cancel') turn.cancel();
        else turn.halfClose();
        await turn.completed();
        return;
      }
      case 'open_and_cancel': {
        const turn = this.#turn('speech');
        await pause(action.afterMs);
        turn.cancel();
        await turn.completed();
        return;
      }
      case 'cancel_reply': {
        const turn = this.#event('no_input', EVENT_INPUT.NO_INPUT);
        await pause(action.afterMs);
        turn.cancel();
        await turn.completed();
        return;
      }
      case 'overlap': {
        const older = this.#turn('speech');
        const newer = this.#turn('speech');
        await Promise.all([older.speak(new Uint8Array(0), action.frames), newer.speak(new Uint8Array(0), action.frames)]);
        newer.halfClose();
        older.halfClose();
        await Promise.all([older.completed(), newer.completed()]);
      }
    }
  }

  #event(kind: TurnKind, event_type: number, name = ''): RoughTurn {
    const turn = this.#turn(kind);
    turn.send({ event_input: { event_type, name } });
    turn.halfClose();
    return turn;
  }

  #turn(kind: TurnKind): RoughTurn {
    this.turns += 1;
    const number = this.turns;
    const metadata = new Metadata();
    metadata.set('authorization', this.#access.token);
    const stream = this.#client.makeBidiStreamRequest<MediaRequest, MediaResponse>(
      rpc.path,
      rpc.requestSerialize,
      rpc.responseDeserialize,
      metadata,
    );
    const note = (what: string): void => {
      this.timeline.push(`${(performance.now() - this.#startedAtMs).toFixed(0).padStart(7)}  #${String(number)} ${kind}  ${what}`);
    };
    const turn = new RoughTurn(stream, {
      kind,
      common: this.#common,
      memory: this.#memory,
      completionLimitMs: this.#access.completionLimitMs,
      note,
      find: (finding) => {
        note(`finds ${finding.code}: ${finding.message}`);
        this.findings.push({ ...finding, turn: number });
      },
      onOver: () => this.#open.delete(turn),
    });
    this.#open.add(turn);
    return turn;
  }
}

interface TurnParts {
  readonly kind: TurnKind;
  readonly common: MediaRequest;
  readonly memory: CallMemory;
  readonly completionLimitMs: number;
  readonly note: (what: string) => void;
  readonly find: (finding: Omit<RoughFinding, 'turn'>) => void;
  readonly onOver: () => void;
}

/** One RPC of such a call. */
class RoughTurn {
  readonly #stream: ClientDuplexStream<MediaRequest, MediaResponse>;
  readonly #parts: TurnParts;
  readonly #over: Promise<void>;
  #isCancelled = false;
  #isOver = false;

  constructor(stream: ClientDuplexStream<MediaRequest, MediaResponse>, parts: TurnParts) {
    const { kind, memory, note, find } = parts;
    this.#stream = stream;
    this.#parts = parts;
    const check = new TurnCheck(memory, (code, rule, message) => {
      // Two streams of one call may both be answered; the other one's farewell may come first.
      if (code !== 'prompt_after_terminal' && code !== 'second_terminal') find({ code, rule, message });
    });
    stream.on('data', (response: MediaResponse) => {
      const answer = answerFromWire(response);
      note(`${answer.type} ${answer.event?.kind ?? ''} ${String(answer.prompts.length)} prompts`);
      // A cancelled stream may still bring what was on its way.
      if (!this.#isCancelled) check.checkAnswer(kind, answer);
    });
    stream.on('error', () => undefined);
    this.#over = new Promise((resolve) => {
      stream.on('status', ({ code, details }: StatusObject) => {
        this.#isOver = true;
        note(`status ${status[code]} ${details}`);
        const isFair = code === status.OK || this.#isCancelled || FAIR_REFUSALS.has(code);
        if (!isFair) find({ code: 'rpc_failed', message: `${status[code]} ${details}` });
        parts.onOver();
        resolve();
      });
    });
  }

  send(message: MediaRequest): void {
    if (!this.#isOver) this.#stream.write({ ...this.#parts.common, ...message });
  }

  halfClose(): void {
    this.#parts.note('half-close');
    this.#stream.end();
  }

  cancel(): void {
    this.#parts.note('cancel');
    this.#isCancelled = true;
    this.#stream.cancel();
  }

  /** Sends frames at the caller's pace until they are over or the server has ended the RPC; silence when the sound is over. */
  async speak(mulaw: Uint8Array, frames: number): Promise<void> {
    const startMs = performance.now();
    for (let frame = 0; frame < frames && !this.#isOver; frame += 1) {
      const caller_audio = new Uint8Array(FRAME_SAMPLES).fill(0xff);
      caller_audio.set(mulaw.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES));
      this.send({ audio_input: { caller_audio, encoding: VOICE_ENCODING.MULAW_FORMAT, sample_rate_hertz: LINE_RATE_HZ } });
      await pause(Math.max(0, startMs + (frame + 1) * FRAME_MS - performance.now()));
    }
  }

  /** Waits until the server has ended it; takes it up when it does not. */
  async completed(): Promise<void> {
    const limit = AbortSignal.timeout(this.#parts.completionLimitMs);
    const late = new Promise<'late'>((resolve) => {
      limit.addEventListener('abort', () => {
        resolve('late');
      });
    });
    if ((await Promise.race([this.#over, late])) === 'late') {
      this.#parts.find({ code: 'not_completed', message: `the RPC was not over after ${String(this.#parts.completionLimitMs)} ms` });
      this.cancel();
    }
  }
}
