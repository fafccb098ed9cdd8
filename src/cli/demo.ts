// `parley demo`: the whole way on one machine. A token issuer, the server with TLS and the token check, and one call to
// each bundled bot, in real time.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { createApp, type App } from '../app/app.ts';
import { loadSettings } from '../app/config/load-settings.ts';
import { createLogger } from '../base/log.ts';
import { loadProfile } from '../fake-platform/profile.ts';
import { placeCall, type CallResult } from '../fake-platform/caller.ts';
import type { Issuer } from '../fake-platform/issuer.ts';
import { callRecording } from '../fake-platform/recording.ts';
import { timelineText } from '../fake-platform/timeline-text.ts';
import { callerVoice } from './caller-voice.ts';
import { demoCalls, type DemoCall } from './demo-calls.ts';
import { EXIT } from './failure.ts';
import { readyLine } from './serve.ts';
import { prepareSurroundings } from './surroundings.ts';

/** The command: exit code 0 when every call went as expected. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('start a token issuer and the server on free ports of this machine and place a call to each bundled bot')
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
  const surroundings = await prepareSurroundings(folder);
  const { issuer, configFile, certificatePem } = surroundings;
  try {
    const { settings } = loadSettings({ argv: [`--config=${configFile}`], env: {} });
    const app = await createApp({ settings, log: createLogger({ level: settings.log.level }) });
    try {
      console.log(readyLine(app.ready));
      await app.warmed;
      return await placeCalls(app, issuer, Buffer.from(certificatePem), output);
    } finally {
      await app.close();
    }
  } finally {
    await issuer.close();
  }
}

async function placeCalls(app: App, issuer: Issuer, certificateAuthority: Buffer, output: string): Promise<boolean> {
  const voice = await callerVoice();
  try {
    await mkdir(output, { recursive: true });
    const results: (readonly [DemoCall, CallResult])[] = [];
    for (const call of await demoCalls((text) => voice.speak(text))) {
      console.log(`\n${call.title}`);
      const isColoured = process.stdout.isTTY && process.stdout.hasColors();
      const line = timelineText(isColoured);
      const result = await placeCall({
        ...call,
        target: `grpcs://localhost:${String(app.ready.port)}`,
        profile: loadProfile('fake'),
        organizationId: issuer.claims.organizationId,
        token: await issuer.issueToken(),
        certificateAuthority,
        changeRate: voice.changeRate,
        onEvent: (event) => {
          console.log(line(event));
        },
      });
      await writeFile(path.join(output, `${call.agentId}.wav`), callRecording(result));
      results.push([call, result]);
    }
    console.log();
    for (const [call, result] of results) console.log(summaryOf(call, result, output));
    return results.every(([, result]) => result.ok && result.findings.length === 0);
  } finally {
    await voice.close();
  }
}

function summaryOf({ agentId }: DemoCall, { ok, outcome, durationMs, findings, unmet }: CallResult, output: string): string {
  const complaints = [
    ...unmet.map(({ expected, found }) => `expected ${expected}, found ${found}`),
    ...findings.map(({ message }) => message),
  ];
  const verdict = ok && complaints.length === 0 ? 'ok    ' : 'FAILED';
  const file = path.relative(process.cwd(), path.join(output, `${agentId}.wav`));
  return [`${verdict}  ${agentId.padEnd(10)}  ${outcome.padEnd(11)}  ${(durationMs / 1000).toFixed(1)} s  ${file}`, ...complaints].join(
    '\n        ',
  );
}
