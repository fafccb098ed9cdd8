// Runs operators' commands in one process: log level, traced calls, reloads, and whether it takes new calls. Knows neither sockets nor
// other processes.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Logger, LogLevel, ProcessLogger } from '../../base/log.ts';
import { packageVersion } from '../../base/package-root.ts';
import type { Readiness } from '../../ops/readiness.ts';
import type { LoadedSettings } from '../config/load-settings.ts';
import { shownId } from '../process-parts.ts';
import type { Command, Controlled, ProcessReport } from './commands.ts';
import { Reloading, type FileVerdict } from './reloading.ts';

/** Most traced calls; a further one ends the oldest trace. */
const MAX_TRACED = 20;

/** The part of a process that takes calls, or starts workers. */
export interface ControlledServer {
  readonly readiness: Pick<Readiness, 'current'>;
  /** Number of calls that live here, and of their open turns. */
  readonly open: () => { readonly calls: number; readonly turns: number };
  readonly setDrained: (isDrained: boolean) => void;
  /** Whether a call is here, or was here recently. */
  readonly knows: (conversationId: string) => boolean;
  /** Exports the spans of a call from its next turn on; the returned function ends that. Default: no spans. */
  readonly trace?: ((conversationId: string) => () => void) | undefined;
  /** Reads again the files that may change. Never rejects. */
  readonly checkNow: () => Promise<readonly FileVerdict[]>;
  /** Passes a command to the processes that this one has started. Default: none. Never rejects. */
  readonly others?: (command: Command) => Promise<Pick<Controlled, 'processes' | 'silent'>>;
}

export interface ProcessControlOptions {
  /** `server`, `primary` or `worker N`. */
  readonly name: string;
  /** A new id for each start of the process. */
  readonly instanceId: string;
  readonly loaded: LoadedSettings;
  /** Reads the configuration again. @throws AppError `config_invalid`. */
  readonly load: () => LoadedSettings;
  /** The logger whose level changes. */
  readonly root: ProcessLogger;
  /** Child of `root` with the fields of this process. */
  readonly log: Logger;
  readonly clock: Clock;
}

/** A change that ends by itself. */
interface Lasting {
  readonly untilMs: number;
  readonly cancel: CancelTimer;
}

/** One per process. */
export class ProcessControl {
  readonly #options: ProcessControlOptions;
  readonly #reloading: Reloading;
  readonly #startedAtMs: number;
  readonly #traced = new Map<string, Lasting & { readonly endSpans: (() => void) | undefined }>();
  #configured: LogLevel;
  #level: (Lasting & { readonly level: LogLevel }) | undefined;
  #isDrained = false;
  readonly #started: Promise<ControlledServer>;
  #serves: (server: ControlledServer) => void = () => undefined;

  constructor(options: ProcessControlOptions) {
    const { loaded, root, clock } = options;
    this.#options = options;
    this.#configured = loaded.settings.log.level;
    this.#startedAtMs = clock.nowMs();
    this.#started = new Promise((resolve) => (this.#serves = resolve));
    this.#reloading = new Reloading({
      ...options,
      setLevel: (level) => {
        this.#configured = level;
        if (this.#level === undefined) root.setLevel(level);
      },
    });
    root.writeAll('conversationId', this.#traced);
  }

  /** Sets the running server; commands that arrived before are run now. */
  serves(server: ControlledServer): void {
    this.#serves(server);
  }

  /** Runs a command here and in the processes that this one has started. Bounded in time once the server runs; never rejects. */
  async everywhere(command: Command): Promise<Controlled> {
    const { readiness, others } = await this.#started;
    const [own, rest] = await Promise.all([this.run(command), others?.(command)]);
    return { readiness: readiness.current, processes: [own, ...(rest?.processes ?? [])], silent: rest?.silent ?? 0 };
  }

  /** Runs a command here. Never rejects. */
  async run(command: Command): Promise<ProcessReport> {
    const server = await this.#started;
    if (command.kind !== 'status') this.#options.log.info({ event: 'control', command }, 'an operator commands');
    switch (command.kind) {
      case 'drain':
      case 'undrain':
        this.#isDrained = command.kind === 'drain';
        server.setDrained(this.#isDrained);
        break;
      case 'log_level':
        this.#setLevel(command);
        break;
      case 'trace':
        this.#trace(command, server);
        break;
      case 'reload': {
        const reloaded = await this.#reloading.reload(server.checkNow);
        return { ...this.#report(server), reloaded };
      }
      case 'status':
    }
    return this.#report(server);
  }

  /** Ends the lasting changes early. */
  close(): void {
    this.#level?.cancel();
    for (const conversationId of this.#traced.keys()) this.#endTrace(conversationId);
  }

  /** The commands that bring a new process into the same state as this one. */
  get standing(): readonly Command[] {
    const level = this.#level;
    return [
      ...(this.#isDrained ? [{ kind: 'drain' } as const] : []),
      ...(level === undefined ? [] : [{ kind: 'log_level', level: level.level, untilMs: level.untilMs } as const]),
      ...[...this.#traced].map(([conversationId, { untilMs }]) => ({ kind: 'trace', conversationId, untilMs }) as const),
    ];
  }

  #setLevel({ level, untilMs }: Extract<Command, { readonly kind: 'log_level' }>): void {
    const { root, log } = this.#options;
    this.#level?.cancel();
    root.setLevel(level);
    const cancel = this.#at(untilMs, () => {
      this.#level = undefined;
      root.setLevel(this.#configured);
      log.info({ level: this.#configured }, 'the log level is again as configured');
    });
    this.#level = { level, untilMs, cancel };
  }

  #trace({ conversationId, untilMs }: Extract<Command, { readonly kind: 'trace' }>, server: ControlledServer): void {
    this.#endTrace(conversationId);
    const [oldest] = this.#traced.keys();
    if (this.#traced.size >= MAX_TRACED && oldest !== undefined) this.#endTrace(oldest);
    const cancel = this.#at(untilMs, () => {
      this.#endTrace(conversationId);
    });
    this.#traced.set(conversationId, { untilMs, cancel, endSpans: server.trace?.(conversationId) });
  }

  #endTrace(conversationId: string): void {
    const traced = this.#traced.get(conversationId);
    traced?.cancel();
    traced?.endSpans?.();
    this.#traced.delete(conversationId);
  }

  #at(untilMs: number, end: () => void): CancelTimer {
    const { clock } = this.#options;
    return clock.after(Math.max(0, untilMs - clock.nowMs()), end);
  }

  #report({ readiness, open, knows }: ControlledServer): ProcessReport {
    const { name, instanceId } = this.#options;
    const level = this.#level;
    return {
      ...{ process: name, server: shownId(instanceId), version: packageVersion(), pid: process.pid, startedAtMs: this.#startedAtMs },
      ...{ readiness: readiness.current, ...open(), logLevel: level?.level ?? this.#configured },
      ...(level !== undefined && { logLevelUntilMs: level.untilMs }),
      traced: [...this.#traced].map(([conversationId, { untilMs }]) => ({ conversationId, untilMs, isHere: knows(conversationId) })),
    };
  }
}
