// Does every fault to real servers, and asks a Prometheus beside them which alerts fire, when, and until when.
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import type { Program } from '../../test/fleet/replica.ts';
import { press } from '../../test/fleet/routed-call.ts';
import { RULES, type Rule } from '../../test/support/metric-names.ts';
import { until } from '../../test/support/until.ts';
import { secondsSince } from '../command-line.ts';
import { ASK, LEAVE, placed } from './callers.ts';
import { crowd, FAULT_FLAGS, FAULTS, TIMES, type Fault, type World } from './faults.ts';
import { Prometheus } from './prometheus.ts';
import { CALM_MODEL, openStage } from './stage.ts';

/** Callers who call again and again all the while, one so much after the other, ms, so that every window has answers; and their calls before the first fault. */
const [CALLERS, APART_MS, CALM_CALLS] = [6, 1500, 25];
/** Longest until the calls are there, ms. */
const CALM_LIMIT_MS = 240_000;
/** Longest until an alert fires: the life of a token and a minute, ms; and until it is over: half an hour's window and some more. */
const [FIRE_LIMIT_MS, END_LIMIT_MS] = [180_000, 90_000];
const LOOK_MS = 500;
/** Of a certificate that is made for a day: so much of it is over, ms. */
const AGE_MS = 23.5 * 3_600_000;

type Alert = Extract<Rule, { readonly alert: string }>;
const ALERTS: readonly Alert[] = RULES.filter((rule) => 'alert' in rule);

/** What came of it. */
export interface Alarms {
  /** Alerts of one severity each whose fault was done and fired them. */
  readonly alertsInjected: number;
  /** Those of them that had never fired before. */
  readonly alertsSilentBefore: number;
  /** Those of them that were over when the fault was, and whose fault can be taken away. */
  readonly alertsEnded: number;
  /** What was not as it must be: an alert has no fault here, had fired before it, did not fire, or does not end. */
  readonly alarmFaults: readonly string[];
}

interface Judged {
  readonly alert: Alert;
  readonly wasSilent: boolean;
  readonly hasFired: boolean;
  /** Undefined: its fault stays. */
  readonly hasEnded: boolean | undefined;
}

/** Starts the servers and does it. @param onProgress - gets a line for people. */
export async function alarms(program: Program, onProgress: (line: string) => void): Promise<Alarms> {
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-alarms-'));
  const over = new AbortController();
  try {
    const aging = await writeThrowAwayCertificate(folder, Date.now() - AGE_MS);
    const stage = await openStage(program, FAULT_FLAGS);
    try {
      await stage.play(CALM_MODEL);
      const [first, second] = stage.accesses;
      const access = { ...first, certificatePem: first.certificatePem + aging.certificatePem };
      const call: World['call'] = async (more) => placed({ ...access, token: await stage.administration.token() }, more);
      const prometheus = await Prometheus.start(stage.opsPorts, TIMES);
      let calls = 0;
      const script = [press('1'), { ...ASK, interruptMs: 300 }, LEAVE];
      const answered = async (): Promise<void> => {
        await call({ script });
        calls += 1;
      };
      const callers = crowd(over.signal, CALLERS, answered, APART_MS);
      try {
        await until('there are calls', () => calls >= CALM_CALLS, CALM_LIMIT_MS);
        onProgress('faults');
        const world: World = { ...stage, accesses: [access, second], aging, call };
        const judged = await Promise.all(FAULTS.map((list) => inTurn(list, world, prometheus, onProgress)));
        return summary(judged.flat());
      } finally {
        over.abort();
        await callers;
        await prometheus.stop();
      }
    } finally {
      await stage.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One fault after the other, each until its alerts are over. */
async function inTurn(list: readonly Fault[], world: World, prometheus: Prometheus, onProgress: (line: string) => void) {
  const judged: Judged[] = [];
  for (const { alerts, during, stays = false } of list) {
    const meant = ALERTS.filter(({ alert }) => alerts.includes(alert)).map(async (alert) => {
      const wasSilent = !(await prometheus.hasHadData(firing(alert)));
      return { alert, wasSilent };
    });
    const before = await Promise.all(meant);
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const startedMs = performance.now();
    const looks = before.map(async ({ alert, wasSilent }) => {
      const hasFired = await isSoon(FIRE_LIMIT_MS, () => prometheus.hasData(firing(alert)));
      onProgress(`${nameOf(alert)} ${hasFired ? 'fires' : 'is silent'} after ${String(secondsSince(startedMs))} s`);
      return { alert, wasSilent, hasFired };
    });
    const looked = Promise.all(looks).finally(() => {
      over.abort();
    });
    const [fired] = await Promise.all([looked, during(world, over.signal)]);
    const ends = fired.map(async (each) => {
      const hasEnded = stays ? undefined : await isSoon(END_LIMIT_MS, async () => !(await prometheus.hasData(firing(each.alert))));
      return { ...each, hasEnded };
    });
    judged.push(...(await Promise.all(ends)));
  }
  return judged;
}

function summary(judged: readonly Judged[]): Alarms {
  const alarmFaults = [
    ...ALERTS.filter((alert) => !judged.some((each) => each.alert === alert)).map((alert) => `${nameOf(alert)} has no fault`),
    ...judged.flatMap(({ alert, wasSilent, hasFired, hasEnded }) => [
      ...(wasSilent ? [] : [`${nameOf(alert)} had fired before its fault`]),
      ...(hasFired ? [] : [`${nameOf(alert)} did not fire`]),
      ...(hasEnded === false ? [`${nameOf(alert)} does not end`] : []),
    ]),
  ];
  const injected = judged.filter(({ hasFired }) => hasFired);
  return {
    alertsInjected: injected.length,
    alertsSilentBefore: injected.filter(({ wasSilent }) => wasSilent).length,
    alertsEnded: injected.filter(({ hasEnded }) => hasEnded).length,
    alarmFaults,
  };
}

async function isSoon(limitMs: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const untilMs = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > untilMs) return false;
    await pause(LOOK_MS);
  }
  return true;
}

function firing({ alert, labels: { severity } }: Alert): string {
  return `ALERTS{alertname="${alert}",severity="${severity}",alertstate="firing"}`;
}

function nameOf({ alert, labels: { severity } }: Alert): string {
  return `${alert} (${severity})`;
}
