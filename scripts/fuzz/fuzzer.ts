// Fuzzes one area for a while: draws inputs, changes them, tries them, and keeps those that lead somewhere new. What is wrong is made
// small and reported.
import { originOf, type Area, type Finding, type Reaction } from './area.ts';
import type { Coverage } from './coverage.ts';
import { minimized } from './minimize.ts';
import { drawn } from './mutations.ts';

/** Inputs that are read between two looks at the coverage. */
const BATCH = 32;
/** Of those, so many are sent as well, beside those that are new. */
const SENT = 6;
/** Most findings of one area: what is broken everywhere needs no more. */
const MAX_FINDINGS = 20;
/** Most inputs that were found to draw from; beyond, the oldest go. */
const MAX_FOUND = 1000;
/** Most time of a core that reading an input may take, ms: whoever can send it could stop a server. */
const MAX_READ_MS = 2000;
/** Longest minimization, attempts (reading is fast, sending is not) and ms. */
const [READ_ATTEMPTS, SEND_ATTEMPTS] = [400, 40];
const MAX_MINIMIZING_MS = 20_000;

/** What came of an area. */
export interface Fuzzed {
  inputs: number;
  readonly outcomes: Set<string>;
  /** Inputs that led somewhere new. */
  readonly kept: Buffer[];
  readonly findings: Finding[];
}

type Way = 'read' | 'send';

/** One area under way. */
export class Fuzzer {
  readonly fuzzed: Fuzzed = { inputs: 0, outcomes: new Set(), kept: [], findings: [] };
  readonly #area: Area;
  readonly #coverage: Pick<Coverage, 'fresh'>;
  readonly #random: () => number;
  /** They stay, however much is found. */
  readonly #seeds: readonly Buffer[];
  readonly #found: Buffer[];
  /** Begins with the inputs as they are. */
  readonly #fresh: Buffer[];
  readonly #onFinding: (finding: Finding) => void;
  #latest: Buffer = Buffer.alloc(0);

  /** @param onFinding - learns of each finding at once. */
  constructor(
    area: Area,
    corpus: readonly Buffer[],
    coverage: Pick<Coverage, 'fresh'>,
    random: () => number,
    onFinding: (finding: Finding) => void = () => undefined,
  ) {
    this.#onFinding = onFinding;
    this.#area = area;
    this.#coverage = coverage;
    this.#random = random;
    this.#seeds = area.seeds;
    this.#found = corpus.slice(-MAX_FOUND);
    this.#fresh = [...area.seeds, ...corpus];
  }

  /** Goes on until `isOver`; what the corpus has is tried first, as it is. */
  async run(isOver: () => boolean): Promise<void> {
    const besides = this.#area.besides?.(isOver);
    while (!isOver() && this.fuzzed.findings.length < MAX_FINDINGS) {
      const isCorpus = this.#fresh.length > 0;
      const batch = isCorpus ? this.#fresh.splice(0, BATCH) : Array.from({ length: BATCH }, () => this.#changed());
      const { read, send } = this.#area;
      const notable = read === undefined ? [] : await this.#readAll(batch, isCorpus);
      if (send === undefined) continue;
      await this.#sendAll(read === undefined || isCorpus ? batch : [...notable, ...batch.slice(0, SENT)], isCorpus, isOver);
    }
    for (const wrong of (await besides) ?? []) this.report(wrong);
  }

  /** Tries one input in every way. */
  async repeat(input: Buffer): Promise<readonly Reaction[]> {
    const reactions: Reaction[] = [];
    for (const way of ['read', 'send'] as const) if (this.#area[way] !== undefined) reactions.push(await this.#tried(way, input));
    return reactions;
  }

  /** @param input - default: the latest one, which may have been it. */
  report(wrong: string, input: Buffer = this.#latest): void {
    if (this.#isKnown(wrong)) return;
    const finding = { area: this.#area.name, wrong, input };
    this.fuzzed.findings.push(finding);
    this.#onFinding(finding);
  }

  #isKnown(wrong: string): boolean {
    return this.fuzzed.findings.some((known) => known.wrong === wrong);
  }

  #changed(): Buffer {
    const pool = [...this.#seeds, ...this.#found];
    const [input = Buffer.alloc(0), other = input] = [drawn(pool, this.#random), drawn(pool, this.#random)];
    return this.#area.mutate(input, this.#random, other);
  }

  /** @returns the inputs that led somewhere new. */
  async #readAll(batch: readonly Buffer[], isCorpus: boolean): Promise<readonly Buffer[]> {
    const notable: Buffer[] = [];
    for (const input of batch) if (await this.#isNew('read', input)) notable.push(input);
    if (this.#coverage.fresh(isCorpus) > 0 && !isCorpus) {
      for (const input of batch) {
        await this.#tried('read', input);
        if (this.#coverage.fresh(true) > 0 && !notable.includes(input)) notable.push(input);
      }
    }
    if (!isCorpus) this.#keep(notable);
    return notable;
  }

  async #sendAll(inputs: readonly Buffer[], isCorpus: boolean, isOver: () => boolean): Promise<void> {
    const waiting = [...inputs];
    const lane = async (): Promise<void> => {
      for (let input = waiting.shift(); input !== undefined && (isCorpus || !isOver()); input = waiting.shift()) {
        if ((await this.#isNew('send', input)) && !isCorpus) this.#keep([input]);
      }
    };
    await Promise.all(Array.from({ length: this.#area.lanes ?? 8 }, lane));
  }

  #keep(inputs: readonly Buffer[]): void {
    this.fuzzed.kept.push(...inputs);
    this.#found.push(...inputs);
    this.#found.splice(0, this.#found.length - MAX_FOUND);
  }

  async #isNew(way: Way, input: Buffer): Promise<boolean> {
    this.fuzzed.inputs += 1;
    const { outcome, wrong } = await this.#tried(way, input);
    if (wrong !== undefined && !this.#isKnown(wrong)) {
      const untilMs = performance.now() + MAX_MINIMIZING_MS;
      const isSame = async (smaller: Buffer): Promise<boolean> =>
        performance.now() < untilMs && (await this.#tried(way, smaller)).wrong === wrong;
      this.report(wrong, await minimized(input, isSame, way === 'read' ? READ_ATTEMPTS : SEND_ATTEMPTS));
    }
    const named = `${way} ${outcome}`;
    if (this.fuzzed.outcomes.has(named)) return false;
    this.fuzzed.outcomes.add(named);
    return true;
  }

  async #tried(way: Way, input: Buffer): Promise<Reaction> {
    // The callers beside it are of this process and want their turn.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const started = process.cpuUsage();
    this.#latest = input;
    try {
      const reaction = (await this.#area[way]?.(input)) ?? { outcome: 'nothing' };
      const isSlow = way === 'read' && process.cpuUsage(started).user / 1000 > MAX_READ_MS;
      return isSlow ? { outcome: 'slow', wrong: 'took too long to read' } : reaction;
    } catch (thrown) {
      return { outcome: 'threw', wrong: `threw ${originOf(thrown)}` };
    }
  }
}
