// What a HorizontalPodAutoscaler with the settings of deploy/ makes of the number of calls. Knows no servers.

/** The autoscaler as deploy/ has it; test/rules/deploy-operators.test.ts compares them. Times are s. */
export const SHIPPED = {
  targetCalls: 300,
  targetCpuPercent: 60,
  ...{ least: 3, most: 20 },
  up: { percent: 100, pods: 2, periodS: 30 },
  down: { windowS: 900, pods: 1, periodS: 300 },
} as const;
/** HorizontalPodAutoscaler looks this often, s, and does nothing for less than a tenth. */
const LOOK_S = 15;
const TOLERANCE = 0.1;
/** From a call that began to the figure that the autoscaler sees, s: a scrape and an adapter. */
const METRIC_AGE_S = 30;

/** What it aims at, by calls or by CPU. @param msPerCall - CPU for a second of a call: for the second metric. */
export function callsPerServer(targetCalls: number, msPerCall: number): number {
  return Math.min(targetCalls, (SHIPPED.targetCpuPercent * 10) / msPerCall);
}

/** Rules of autoscaling/v2: a server that is not ready counts as one without calls. */
export class Autoscaler {
  readonly #callsPerServer: number;
  readonly #calls: number[] = [];
  /** By look. */
  readonly #recommended: number[];
  readonly #sizes: number[] = [];
  #size: number;
  #lastDownS = -Infinity;

  /** @param aim - see {@link callsPerServer}. @param size - servers at the beginning: they count as recommended. */
  constructor(aim: number, size: number) {
    this.#callsPerServer = aim;
    this.#size = size;
    this.#recommended = [size];
  }

  /** Called every second. @param calls - of all servers. @returns how many servers there should be. */
  wanted(nowS: number, calls: number): number {
    this.#calls.push(calls);
    if (nowS % LOOK_S !== 0) return this.#size;
    const seen = this.#calls[Math.max(0, nowS - METRIC_AGE_S)] ?? 0;
    const isNear = Math.abs(seen / (this.#size * this.#callsPerServer) - 1) <= TOLERANCE;
    const now = Math.min(SHIPPED.most, Math.max(SHIPPED.least, isNear ? this.#size : Math.ceil(seen / this.#callsPerServer)));
    this.#recommended.push(now);
    const { up, down } = SHIPPED;
    if (now > this.#size) {
      const before = this.#sizes.at(-Math.ceil(up.periodS / LOOK_S)) ?? this.#size;
      this.#size = Math.max(this.#size, Math.min(now, before + Math.max(up.pods, (before * up.percent) / 100)));
    } else if (nowS - this.#lastDownS >= down.periodS) {
      const stable = Math.max(...this.#recommended.slice(-down.windowS / LOOK_S));
      if (stable < this.#size) {
        this.#lastDownS = nowS;
        this.#size = Math.max(stable, this.#size - down.pods);
      }
    }
    this.#sizes.push(this.#size);
    return this.#size;
  }
}
