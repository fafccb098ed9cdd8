// Calls without any wire, as a transport under test: the real engine with the voice that a server would have. What reaches the
// bot and the caller here is what every wire has to bring.
import { botsFolder, promptsFolder } from '../../../src/app/bot-folders.ts';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import { engineSettings, voiceSettings } from '../../../src/app/room-settings.ts';
import { loadSignalEngines } from '../../../src/app/signal-engines.ts';
import { loadBots } from '../../../src/bot/loader.ts';
import { turnOpening, type Input } from '../../../src/dialog/input.ts';
import type { FinalNext, Output, SpokenPrompt } from '../../../src/dialog/output.ts';
import type { Sessions } from '../../../src/session/sessions.ts';
import type { Turn } from '../../../src/session/turn/turn.ts';
import { openPromptVoice } from '../../../src/voice/prompt-voice.ts';
import { recordingLog, testEngine } from '../engine.ts';
import { FakeClock } from '../fake-clock.ts';
import { MemorySink } from '../memory-transport.ts';
import { until } from '../until.ts';
import type { Delivered, DeliveredNext, TransportUnderTest } from './placed-call.ts';
import { TurnWiseCall, type LoneTurn } from './turn-wise-call.ts';

/** Makes it. @param flags - as an operator would give them to a server; they must find the bots. */
export async function memoryTransport(flags: readonly string[]): Promise<TransportUnderTest> {
  const { settings } = loadSettings({ argv: ['--auth.enabled=false', '--tls.mode=off', '--grpc.host=127.0.0.1', ...flags], env: {} });
  const clock = new FakeClock();
  const log = recordingLog();
  const { createResampler } = await loadSignalEngines();
  const voice = openPromptVoice(voiceSettings(settings, promptsFolder(settings.bots)), { clock, log, createResampler });
  const engine = await testEngine(await loadBots(botsFolder(settings.bots)), { settings: engineSettings(settings), voice, clock });
  return {
    place: (agentId = '') =>
      Promise.resolve(new TurnWiseCall((conversationId, first) => new MemoryTurn(engine.sessions, { conversationId, agentId }, first))),
    advance: (ms) => clock.advanceAsync(ms),
    log: () => JSON.stringify([log.lines, engine.log.lines]),
    quiet: () => until('no call is left', () => engine.sessions.size === 0 && engine.sessions.openTurns === 0),
    close: async () => {
      await engine.sessions.close(0);
      await voice.close();
    },
  };
}

/** A turn of the engine; what comes before its session is there waits for it. */
class MemoryTurn implements LoneTurn {
  readonly #sink = new MemorySink();
  readonly #turn: Promise<Turn>;

  constructor(sessions: Sessions, ids: { readonly conversationId: string; readonly agentId: string }, first: Input) {
    const parameters = first.kind === 'session_start' ? first.parameters : {};
    this.#turn = Promise.resolve(
      sessions.acquire({ organizationId: 'org', ...ids, vendorConfig: '', parameters, opensWith: turnOpening(first) }),
    ).then((session) => session.beginTurn(this.#sink, first.kind === 'session_end'));
    this.send(first);
  }

  send(input: Input): void {
    void this.#turn.then((turn) => {
      turn.push(input);
    });
  }

  halfClose(): void {
    void this.#turn.then((turn) => {
      turn.halfClose();
    });
  }

  get delivered(): readonly Delivered[] {
    return this.#sink.outputs.flatMap(deliveredOf);
  }

  get end(): string {
    const { end } = this.#sink;
    return typeof end === 'string' ? end : end.code;
  }
}

function deliveredOf(output: Output): readonly Delivered[] {
  switch (output.kind) {
    case 'input_started':
      return [{ kind: 'speech', is: 'started' }];
    case 'input_ended':
      return [{ kind: 'speech', is: 'ended' }];
    case 'prompt':
      return [promptDelivered(output.prompt)];
    case 'final': {
      const next = nextDelivered(output.next);
      return [...output.prompts.map(promptDelivered), ...(next === undefined ? [] : [{ kind: 'next', next } as const])];
    }
  }
}

function promptDelivered({ audio, text, bargeIn }: SpokenPrompt): Delivered {
  return audio === undefined ? { kind: 'text', text: text ?? '' } : { kind: 'sound', mulaw: audio.mulaw, mayBeCut: bargeIn };
}

function nextDelivered(next: FinalNext): DeliveredNext | undefined {
  switch (next.kind) {
    case 'listen': {
      const { kind, accept, digits, interDigitMs, terminator, sensitive, event } = next;
      const named = event === undefined ? {} : { event: { name: event.name, metadata: event.metadata ?? {} } };
      return { kind, accept, digits, interDigitMs, terminator, sensitive, ...named };
    }
    case 'transfer':
    case 'end': {
      const { kind, metadata, summary } = next;
      const name = kind === 'end' ? 'session_ended' : 'transfer_requested';
      return { kind, name, metadata, ...(summary === undefined ? {} : { summary }) };
    }
    case 'superseded':
    case 'gone':
      return undefined;
  }
}
