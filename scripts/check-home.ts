// `npm run check -- home`: has each call one home, and what does it cost when its turns come to other servers? See scripts/fleet/home-proof.ts.
import { HomeStage } from '../test/fleet/home-stage.ts';
import { hundredths } from './bench/figures.ts';
import { command, number, progress, source } from './command-line.ts';
import { forwardCost } from './fleet/forward-cost.ts';
import { countCalls, cutPeerPort, firstAudio } from './fleet/home-proof.ts';

/** Most CPU time of a forwarded frame at the server that forwards it, as a multiple of a bare pass-through. */
const MAX_RATIO = 1.45;

const help = `Sends every RPC of a call to the next of several servers, and counts the calls of all of them four times a second.

  npm run check -- home                             about two minutes, three servers, 24 calls at once
  npm run check -- home --replicas 2 --seconds 10   shorter

  --replicas N    servers, 2 to 4 (default 3)
  --calls N       calls at once while they are counted (default 24)
  --seconds N     how long they are counted (default 40)
  --source        start the source and not the build

Needs Debian's redis-server and haproxy. Run \`npm run build\` first, on a machine that does nothing else. Progress is on stderr; the last
line of stdout is JSON: {"ok", "samples", "wrongSamples", "wrongInARow", "badCalls", "firstAudioMs", "addedP99Ms", "cpuPerFrameUs",
"cpuRatio", "peerPortCut", …}. The exit code is 1 when the servers counted other calls than there were in two samples in a row, a turn was
not answered, or a home whose peer port was cut off had not given up its calls within a beat.

"cpuRatio" is the CPU time of a forwarded frame at the server that forwards it, over that of the same frame at a bare pass-through
(scripts/bench/pass-through.ts): a gRPC server to which the frames come directly, without TLS, and which sends nothing on. The
forwarder gets them in the same way and sends them to their home over TLS. 200 streams of 50 frames a second on 20 connections, no two
frames of one connection together; the median of five rounds, one server right after the other. "isCheap" says whether it was at most
${String(MAX_RATIO)}, the aim; a busy machine makes a frame dearer.
`;

await command({
  help,
  options: { replicas: number(3, 2), calls: number(24, 1), seconds: number(40, 1), source },
  run: async ({ calls, seconds, source: program, ...given }) => {
    const replicas = Math.min(4, given.replicas);
    progress(`starting ${String(replicas)} servers (${program})`);
    const stage = await HomeStage.start(replicas, ['--log.level=warn'], { program });
    try {
      progress(`counting calls for ${String(seconds)} s`);
      const { described, ...counted } = await countCalls(stage, calls, seconds);
      progress('first audio, at home and forwarded');
      const { turns, ...firstAudioMs } = await firstAudio(stage);
      progress('CPU of a forwarded frame');
      const { ratio, ...cpuPerFrameUs } = await forwardCost(stage);
      progress('a peer port that is cut off');
      const { described: stories, ...peerPortCut } = await cutPeerPort(stage);
      return {
        ok: counted.wrongInARow + counted.badCalls === 0 && counted.calls > 0 && counted.samples > 0 && peerPortCut.ok,
        described: [...described, ...stories],
        ...{ replicas, ...counted, firstAudioMs, measuredTurns: turns },
        addedP50Ms: hundredths(firstAudioMs.forwarded.p50 - firstAudioMs.direct.p50),
        addedP99Ms: hundredths(firstAudioMs.forwarded.p99 - firstAudioMs.direct.p99),
        cpuPerFrameUs: { forwarder: hundredths(cpuPerFrameUs.forwarderUs), passThrough: hundredths(cpuPerFrameUs.passThroughUs) },
        ...{ cpuRatio: hundredths(ratio), isCheap: ratio <= MAX_RATIO, peerPortCut },
      };
    } finally {
      await stage.close();
    }
  },
});
