// What a load and its workers say to each other. Both sides read what comes as foreign: a worker of another build, or a
// process that has gone mad, must not become a wrong figure.
import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import { KEYS } from '../caller/key.ts';
import { callFacts, waitFact } from './call-facts.ts';

const interrupt = { interruptMs: z.exactOptional(z.number()), interruptWord: z.exactOptional(z.string()) };
const parameters: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

const step = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('say'), label: z.string(), mulaw: bytes, ...interrupt }),
  z.object({ kind: z.literal('press'), keys: z.array(z.enum(KEYS)), ...interrupt }),
  z.object({ kind: z.literal('wait'), waitMs: z.number(), ...interrupt }),
  z.object({ kind: z.literal('stay_silent'), ...interrupt }),
  z.object({ kind: z.literal('send_event'), name: z.string(), parameters, ...interrupt }),
  z.object({ kind: z.literal('hang_up'), ...interrupt }),
]);

const scenario = z.object({
  name: z.string(),
  script: z.array(step),
  agentId: z.string(),
  organizationId: z.string(),
  vendorConfig: z.string(),
  allowPartial: z.boolean(),
  session: z.object({ name: z.string(), parameters }),
  habits: z.object({ terminatorIncluded: z.exactOptional(z.boolean()), singleDigitDirect: z.exactOptional(z.boolean()) }),
  hangUpAtMs: z.exactOptional(z.number()),
  noInputMs: z.exactOptional(z.number()),
  repeatsLostTurns: z.exactOptional(z.boolean()),
  expectedTransfer: z.exactOptional(z.string()),
  limits: z.exactOptional(z.object({ callMs: z.exactOptional(z.number()), answerMs: z.exactOptional(z.number()) })),
});

const phase = z.object({ durationMs: z.number(), fromPerSecond: z.number(), toPerSecond: z.number() });

/** What a worker is told. */
export const orderSchema = z.discriminatedUnion('kind', [
  /** First of all: where to call, and what callers do. */
  z.object({
    kind: z.literal('prepare'),
    target: z.string(),
    profile: z.string(),
    organizationId: z.string(),
    agentId: z.string(),
    token: z.exactOptional(z.string()),
    bearer: z.boolean(),
    certificateAuthority: z.exactOptional(bytes),
    serverName: z.exactOptional(z.string()),
    callsPerConnection: z.number(),
    scenarios: z.array(scenario),
    /** How replies sound that were heard before. */
    sounds: z.array(z.object({ text: z.string(), checksum: z.number(), bytes: z.number() })),
    /** Silence after which the platform reports it where neither the server nor the scenario says when, ms; 0 never. */
    noInputMs: z.number(),
    /** Whether turns that are lost are said again, where the scenario does not say. */
    repeatsLostTurns: z.boolean(),
    limits: z.object({ callMs: z.number(), connectMs: z.number(), answerMs: z.number(), hangUpMs: z.number() }),
  }),
  /** Begin a run: every worker draws the same arrivals and takes each so-many-th. */
  z.object({
    kind: z.literal('run'),
    /** Wall-clock time of the beginning, ms since the epoch. */
    startAtMs: z.number(),
    arrivals: z.object({
      kind: z.enum(['poisson', 'fixed']),
      phases: z.array(phase),
      seed: z.number(),
      weights: z.array(z.number()),
    }),
    worker: z.number(),
    workers: z.number(),
    /** Calls at once that are expected of this worker, for its connections. */
    expectedCalls: z.number(),
    /** After the last arrival, hang up as soon as no caller waits any more for something it waited for by then. */
    endsWhenAnswered: z.boolean(),
  }),
  /** No further call begins, and those that are held are hung up. */
  z.object({ kind: z.literal('stop') }),
]);
/** One of them. */
export type WorkerOrder = z.infer<typeof orderSchema>;

/** What a worker tells. */
export const reportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  /** Every second of a run, and once more at its end. */
  z.object({
    kind: z.literal('second'),
    /** The time it tells of, ms since the run began. */
    fromMs: z.number(),
    toMs: z.number(),
    live: z.number(),
    started: z.number(),
    missed: z.number(),
    waits: z.array(waitFact),
    calls: z.array(callFacts),
    /** How late calls were begun, and timers fired; encoded histograms. */
    startLateness: z.string(),
    timerLateness: z.string(),
    /** Part of one core, since the last report. */
    cpu: z.number(),
    /** Delay of the event loop, ms, since the last report. */
    loopDelayMaxMs: z.number(),
    residentBytes: z.number(),
  }),
  /** The run is over and its calls, too. */
  z.object({ kind: z.literal('done') }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
]);
/** One of them. */
export type WorkerReport = z.infer<typeof reportSchema>;
/** The report of a second. */
export type WorkerSecond = Extract<WorkerReport, { kind: 'second' }>;
