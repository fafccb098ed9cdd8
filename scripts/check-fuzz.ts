// `npm run check -- fuzz`: wrong input of every kind, made from a kept corpus, against a server under calls and against its readers.
import { seededNumbers } from '../src/base/seeded-numbers.ts';
import { loadProfile } from '../src/contract/profile.ts';
import { startIssuer } from '../src/fake-platform/platform/issuer.ts';
import { command, number, progress, secondsSince, seed, text, toggle, type CommandResult } from './command-line.ts';
import { originOf, type Finding } from './fuzz/area.ts';
import { AREA_NAMES, openAreas } from './fuzz/areas.ts';
import { COMMITTED, FINDINGS, inputOf, inputsOf, keep, keepIn, KEPT } from './fuzz/corpus.ts';
import { Coverage } from './fuzz/coverage.ts';
import { Fuzzer, type Fuzzed } from './fuzz/fuzzer.ts';
import { LiveServer } from './fuzz/live-server.ts';
import { ORGANIZATION } from './fuzz/messages.ts';

const help = `Fuzzes Parley with inputs that are changed in a few places: ${AREA_NAMES.join(', ')}.

  npm run check -- fuzz                            ten minutes, the areas one after the other
  npm run check -- fuzz --only tokens,recordings   some of them
  npm run check -- fuzz --repeat FILE              one input again, of the corpus or of a finding

  --minutes N     how long, all areas together (default 10)
  --seed N        draws what is changed
  --only AREAS    separated by commas
  --keep          write inputs that led somewhere new into test/fuzz-corpus as well
  --limit-ms N    longest wait of the calls beside for their first sound (default 10000)
  --repeat FILE   tries one file; its folder names the area

Inputs that lead to a new outcome, or run code that none has run, go to cache/fuzz/corpus and are used again by the next run; what is wrong
goes to cache/fuzz/findings, made as small as it can be. Progress is on stderr; the last line of stdout is JSON: {"ok", "areas", "inputs",
"outcomes", "kept", "findings", "minutes", "seed", …}. The exit code is 1 when there is a finding.
`;

const PROFILE = loadProfile('fake');

interface Order {
  readonly minutes: number;
  readonly seed: number;
  readonly only: string | undefined;
  readonly repeat: string | undefined;
  readonly keep: boolean;
  readonly 'limit-ms': number;
}

/** The fuzzer of each area, by its name. */
type Fuzzers = ReadonlyMap<string, Fuzzer>;

async function check(order: Order): Promise<CommandResult> {
  const repeated = order.repeat === undefined ? undefined : inputOf(order.repeat);
  const names = repeated === undefined ? (order.only?.split(',') ?? AREA_NAMES) : [repeated.area];
  const issuer = await startIssuer({ profile: PROFILE, organizationId: ORGANIZATION });
  const web = { ...issuer.claims, url: 'wss://localhost', schemaId: PROFILE.schemas.websocket };
  const socketToken = await issuer.issueToken({ ...web, lifetimeMinutes: 1380 });
  const strays: { report: (wrong: string) => void } = { report: progress };
  const server = await LiveServer.start(issuer, PROFILE, { ...web, token: socketToken }, (wrong) => {
    strays.report(wrong);
  });
  const areas = await openAreas(names, { issuer, profile: PROFILE, socketToken, target: server.target });
  const coverage = new Coverage();
  const stray = (thrown: unknown): void => {
    strays.report(`nobody caught ${originOf(thrown)}`);
  };
  process.on('uncaughtException', stray).on('unhandledRejection', stray);
  try {
    const random = seededNumbers(order.seed);
    const fuzzers: Fuzzers = new Map(
      areas.map((area) => [area.name, new Fuzzer(area, inputsOf(area.name, COMMITTED, KEPT), coverage, random, save)]),
    );
    if (repeated !== undefined) {
      const reactions = (await fuzzers.get(repeated.area)?.repeat(repeated.input)) ?? [];
      return { ok: reactions.every(({ wrong }) => wrong === undefined), reactions };
    }
    return await fuzz(fuzzers, server, order, strays);
  } finally {
    process.off('uncaughtException', stray).off('unhandledRejection', stray);
    coverage.close();
    for (const { close } of areas) await close?.();
    await server.close();
    await issuer.close();
  }
}

/** One area after the other, with calls beside all of them. */
async function fuzz(
  fuzzers: Fuzzers,
  server: LiveServer,
  { minutes, seed: drawn, keep: isKeeping, 'limit-ms': limitMs }: Order,
  strays: { report: (wrong: string) => void },
): Promise<CommandResult> {
  const startedMs = performance.now();
  let isOver = false;
  const calls = server.callBeside(limitMs, () => isOver);
  for (const [index, [name, fuzzer]] of [...fuzzers].entries()) {
    // What is wrong with the server or with this process is a finding of the area that is under way.
    strays.report = (wrong) => {
      fuzzer.report(wrong);
    };
    const untilMs = startedMs + ((index + 1) * minutes * 60_000) / fuzzers.size;
    await fuzzer.run(() => performance.now() > untilMs || server.isOver);
    if (index === 0) await server.noteMemory();
    const { inputs, outcomes, kept } = fuzzer.fuzzed;
    progress(`  ${name.padEnd(14)} ${String(inputs)} inputs, ${String(outcomes.size)} outcomes, ${String(kept.length)} kept`);
  }
  isOver = true;
  await calls;
  await server.demandQuiet();
  for (const [name, { fuzzed }] of fuzzers) {
    keepIn(KEPT, name, fuzzed.kept);
    if (isKeeping) keepIn(COMMITTED, name, fuzzed.kept);
  }
  const figures = [...fuzzers.values()].map(({ fuzzed }) => fuzzed);
  const sum = (of: (figure: Fuzzed) => number): number => figures.reduce((total, figure) => total + of(figure), 0);
  const findings = sum((figure) => figure.findings.length);
  return {
    ok: findings === 0 && server.health.calls > 0,
    areas: [...fuzzers.keys()],
    inputs: sum(({ inputs }) => inputs),
    outcomes: sum(({ outcomes }) => outcomes.size),
    kept: sum(({ kept }) => kept.length),
    findings,
    ...server.health,
    minutes: Math.round(secondsSince(startedMs) / 6) / 10,
    seed: drawn,
  };
}

function save({ area, wrong, input }: Finding): void {
  progress(`${area}: ${wrong}\n  ${keep(FINDINGS, area, input)}`);
}

await command({
  help,
  options: { minutes: number(10), seed, only: text, repeat: text, keep: toggle, 'limit-ms': number(10_000) },
  run: check,
});
