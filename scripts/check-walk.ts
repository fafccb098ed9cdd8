// `npm run check -- walk`: how far must a person walk through the sources to follow one spoken answer? The fake platform calls
// a server of this process over a real socket, and the functions of the server say in which order they run.
import { register } from 'node:module';
import type * as AppModule from '../src/app/app.ts';
import { loadSettings } from '../src/app/config/load-settings.ts';
import { packageRoot } from '../src/base/package-root.ts';
import { loadProfile } from '../src/contract/profile.ts';
import { placeCall } from '../src/fake-platform/caller/caller.ts';
import type { Line } from '../src/fake-platform/lines/line.ts';
import type { Step } from '../src/fake-platform/caller/script.ts';
import { wrappedLine, wrappedListener, wrappedTurn } from '../src/fake-platform/lines/wrapped-line.ts';
import { recorded } from '../test/support/line-signals.ts';
import { command, toggle } from './command-line.ts';

const MAX_FILES = 30;
const MAX_CHANGES = 60;
/** What any room may use without leaving its way, and what watches it. */
const BESIDE_THE_WAY: readonly string[] = ['base', 'contract', 'speech', 'telemetry'];

const help = `Follows one spoken answer through the sources of the server.

  npm run check -- walk             counts
  npm run check -- walk --files     lists the files first, in the order of the walk

A caller of the fake platform says a sentence over gRPC, and a bot answers with a text; there is no recognizer, no store and no
token. Of the second such answer of the call, everything is followed from the frame that completes what the caller says to the
end of the RPC.

files     the files of src/ in which a function ran.
changes   every function counts when it runs for the first time in this answer, in this order; a change is a function that
          lies in another file than the one before it. Neither a loop nor the way back into a caller counts.

Both leave out the tools (base, contract, speech) and the observers (telemetry); "everywhere" counts these too. "wholeTurn"
counts everywhere and from the moment when the RPC opens: admission, the check of the first message, frames and the voice
detector besides. Warm-ups and what happens once per call are in none of them, as the answer is the second one.

The last line is JSON: {"ok", "files", "changes", "maxFiles", "maxChanges", "everywhere", "wholeTurn"}. The exit code is 1
beyond ${String(MAX_FILES)} files or ${String(MAX_CHANGES)} changes.
`;

/** The beginning of a function. */
interface Beginning {
  readonly file: string;
  /** Where in it. */
  readonly at: number;
}

/** What ran during one RPC, and how much of it ran before the frame that completed the caller's input. */
interface TurnWalk {
  readonly all: readonly Beginning[];
  readonly answerFrom: number;
}

await command({
  help,
  options: { files: toggle },
  run: async ({ files: listsFiles }) => {
    const { all, answerFrom } = await secondAnswer();
    const answer = all.slice(answerFrom);
    const way = stations(answer.filter(({ file }) => !BESIDE_THE_WAY.includes(file.split('/')[1] ?? '')));
    if (listsFiles) console.log(way.join('\n'));
    const { files, changes } = counted(way);
    const [everywhere, wholeTurn] = [counted(stations(answer)), counted(stations(all))];
    const ok = files <= MAX_FILES && changes <= MAX_CHANGES;
    return { ok, files, changes, maxFiles: MAX_FILES, maxChanges: MAX_CHANGES, everywhere, wholeTurn };
  },
});

/** The files in the order of the walk, each as often as the walk comes to a new function of it from elsewhere. */
function stations(beginnings: readonly Beginning[]): readonly string[] {
  // A set keeps the order in which its members came first.
  const functions = new Set(beginnings.map(({ file, at }) => `${file}:${String(at)}`));
  const files = [...functions].map((place) => place.slice(0, place.indexOf(':')));
  return files.filter((file, index) => file !== files[index - 1]);
}

function counted(way: readonly string[]): { readonly files: number; readonly changes: number } {
  return { files: new Set(way).size, changes: Math.max(0, way.length - 1) };
}

async function secondAnswer(): Promise<TurnWalk> {
  let beginnings: Beginning[] = [];
  Object.assign(globalThis, { walked: (file: string, at: number) => beginnings.push({ file, at }) });
  const answers: TurnWalk[] = [];
  const overLine = (line: Line): Line =>
    wrappedLine(line, {
      open: (listener) => {
        beginnings = [];
        let [lastFrameAt, answerFrom] = [0, -1];
        const turn = line.open(
          wrappedListener(listener, {
            answered: (answer) => {
              if (answer.event?.kind === 'end_of_input') answerFrom = lastFrameAt;
              listener.answered(answer);
            },
            ended: (end) => {
              if (answerFrom >= 0) answers.push({ all: beginnings, answerFrom });
              listener.ended(end);
            },
          }),
        );
        return wrappedTurn(turn, {
          send: (input) => {
            lastFrameAt = beginnings.length;
            turn.send(input);
          },
        });
      },
    });

  register('./walk-loader.mjs', import.meta.url);
  const { createApp } = (await import(new URL('../src/app/app.ts?walk', import.meta.url).href)) as typeof AppModule;
  const app = await createApp({ settings: settings() });
  const sentence = recorded('sentence');
  const say: Step = { kind: 'say', label: 'a sentence', mulaw: sentence };
  try {
    const call = await placeCall({
      target: `grpc://127.0.0.1:${String(app.ready.port)}`,
      profile: loadProfile('fake'),
      organizationId: 'walk',
      script: [say, say, { kind: 'hang_up' }],
      overLine,
    });
    const [, second] = answers;
    if (!call.ok || second === undefined)
      throw new Error(`the call was not held: ${call.findings.map(({ message }) => message).join('; ')}`);
    return second;
  } finally {
    await app.close();
  }
}

function settings(): AppModule.AppOptions['settings'] {
  const loaded = loadSettings({
    argv: [
      ...['--grpc.host=127.0.0.1', '--grpc.port=0', '--ops.port=0', '--tls.mode=off', '--auth.enabled=false', '--log.level=error'],
      ...['--platform.profile=fake', '--bots.folder=scripts/walk/bots', '--synthesizer.engine=none'],
    ],
    env: {},
    cwd: packageRoot(),
  });
  return loaded.settings;
}
