// `parley demo`: everything on one machine, in real time. A fake platform, a login, the server with TLS and token check, an organization
// that authorizes the app, a call to each of four bundled bots, a call over WebSocket, a renewed token, and a call with the renewed token.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import type { App } from '../app/app.ts';
import { AppError } from '../base/errors.ts';
import type { DataSourceRecord } from '../fake-platform/platform/data-source-book.ts';
import { placeCall, type CallResult } from '../fake-platform/caller/caller.ts';
import { announceWords } from '../fake-platform/models/announce.ts';
import { loadProfile } from '../fake-platform/platform/profile.ts';
import type { Transport } from '../fake-platform/lines/target.ts';
import { callRecording } from '../fake-platform/caller/recorded-sound.ts';
import { timelineText } from '../fake-platform/caller/result-text.ts';
import { callerVoice } from './caller-voice.ts';
import type { CallerVoice } from '../fake-platform/cli/call-access.ts';
import { demoCalls, type DemoCall } from './demo-calls.ts';
import {
  authorize,
  dataSourceOf,
  DEMO_ORGANIZATION,
  logIn,
  renewed,
  startDemoPlatform,
  startDemoServer,
  type DemoPlatform,
} from './demo-platform.ts';
import { EXIT } from '../base/terminal/failure.ts';
import { readyLine } from './serve/ready-line.ts';

/** The command. Exit code 0 when every call went as expected. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('go the whole way on free ports of this machine: platform, login, server, authorization, calls, renewal')
    .option('--output <folder>', 'where the recordings go', 'demo-output')
    .addHelpText('after', '\nExample:\n  $ parley demo --output /tmp/calls')
    .action(async ({ output }: { output: string }) => {
      const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-demo-'));
      try {
        process.exitCode = (await runDemo(folder, path.resolve(output))) ? EXIT.ok : EXIT.failed;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
}

async function runDemo(folder: string, output: string): Promise<boolean> {
  const platform = await startDemoPlatform(folder);
  try {
    console.log(`platform    ${platform.api.baseUrl}, tokens from ${platform.issuer.issuer}`);
    await logIn(platform);
    const app = await startDemoServer(platform);
    try {
      console.log(readyLine(app.ready));
      const registered = await authorize(platform);
      await app.warmed;
      return await placeCalls(app, platform, registered, output);
    } finally {
      await app.close();
    }
  } finally {
    await platform.close();
  }
}

async function placeCalls(app: App, platform: DemoPlatform, registered: DataSourceRecord, output: string): Promise<boolean> {
  const voice = await callerVoice();
  try {
    await mkdir(output, { recursive: true });
    const calls = await demoCalls((text) => voice.speak(text));
    const results: (readonly [DemoCall, CallResult])[] = [];
    const place = async (call: DemoCall, transport: Transport): Promise<void> => {
      const result = await placeDemoCall(call, transport, app, platform, voice);
      await writeFile(path.join(output, `${call.name}.wav`), callRecording(result));
      results.push([call, result]);
    };
    await announceWords(
      platform.models.url,
      calls.withFirstToken.flatMap(({ script }) => script),
    );
    for (const call of calls.withFirstToken) await place(call, 'grpc');
    await place(calls.overWebSocket, 'websocket');
    await renewed(platform, registered);
    await place(calls.withNextToken, 'grpc');
    console.log();
    for (const [call, result] of results) console.log(summaryOf(call, result, output));
    return results.every(([, result]) => result.ok && result.findings.length === 0);
  } finally {
    await voice.close();
  }
}

function placeDemoCall(
  call: DemoCall,
  transport: Transport,
  { ready }: App,
  { api, certificatePem }: DemoPlatform,
  voice: CallerVoice,
): Promise<CallResult> {
  const token = dataSourceOf(api, transport)?.jwsToken;
  const port = transport === 'grpc' ? ready.port : ready.websocket?.port;
  if (token === undefined) throw new AppError('platform_unavailable', 'the data source is gone; the log above says why');
  console.log(`\n${call.title}`);
  const line = timelineText(process.stdout.isTTY && process.stdout.hasColors());
  return placeCall({
    ...call,
    ...{ token, changeRate: voice.changeRate, organizationId: DEMO_ORGANIZATION },
    target: `${transport === 'grpc' ? 'grpcs' : 'wss'}://localhost:${String(port)}`,
    profile: loadProfile('fake'),
    certificateAuthority: Buffer.from(certificatePem),
    onEvent: (event) => {
      console.log(line(event));
    },
  });
}

function summaryOf({ name }: DemoCall, { ok, outcome, durationMs, findings, unmet }: CallResult, output: string): string {
  const complaints = [
    ...unmet.map(({ expected, found }) => `expected ${expected}, found ${found}`),
    ...findings.map(({ message }) => message),
  ];
  const verdict = ok && complaints.length === 0 ? 'ok    ' : 'FAILED';
  const file = path.relative(process.cwd(), path.join(output, `${name}.wav`));
  return [`${verdict}  ${name.padEnd(17)}  ${outcome.padEnd(11)}  ${(durationMs / 1000).toFixed(1)} s  ${file}`, ...complaints].join(
    '\n        ',
  );
}
