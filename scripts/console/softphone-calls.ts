// Calls from the page of `parley dev`: whether a person is heard and hears what the bot says, and whether the page names what is slow.
import { fakeModels } from '../../src/fake-platform/models/start-models.ts';
import type { ModelScript } from '../../src/fake-platform/models/script.ts';
import path from 'node:path';
import { startRelay } from '../../test/support/relay.ts';
import { ANSWER, sharePlayed, SoftphoneLab, WELCOME } from '../../test/support/softphone.ts';
import { ROOT } from '../../test/support/source-tree.ts';
import { progress } from '../command-line.ts';

/** Longer than what any part takes by itself. */
const DELAY_MS = 1500;
const LEAST_PLAYED = 0.95;

interface Slowness {
  readonly argv?: readonly string[];
  readonly delays?: ModelScript['delays'];
  readonly toolMs?: number;
  readonly lineMs?: number;
}

/** What is slow, by the name that the page must give. A reply takes two requests to the model: for the tool, and for the words. */
const SLOW: Readonly<Record<string, Slowness>> = {
  endpointing: { argv: [`--speech.end_silence_ms=${String(600 + DELAY_MS)}`] },
  recognition: { delays: { recognition: [DELAY_MS, DELAY_MS] } },
  model: { delays: { first_token: [DELAY_MS / 2, DELAY_MS / 2] } },
  tools: { toolMs: DELAY_MS },
  synthesis: { delays: { speech: [DELAY_MS, DELAY_MS] } },
  wire: { lineMs: DELAY_MS },
};

const AI = new URL('../../src/ai/index.ts', import.meta.url).href;
const CLOCK = new URL('../../src/base/clock.ts', import.meta.url).href;
const DESK = `import { assistant, chatModel, tool, z } from ${JSON.stringify(AI)};
import { systemClock } from ${JSON.stringify(CLOCK)};
const run = ({ ms }) => new Promise((resolve) => systemClock.after(ms, () => resolve('nine and eleven')));
export default assistant({ id: 'desk', name: 'Desk', model: chatModel({ url: process.env.MODEL_URL, model: 'fake' }),
  instructions: 'You book appointments.', greeting: 'Hello.',
  tools: { look: tool({ description: 'Looks', input: z.object({ ms: z.number() }), readOnly: true, run }) } });
`;

export interface SoftphoneFigures {
  /** Calls that went as a person expects. */
  readonly softphoneCalls: number;
  /** Whether the page played the prompts of the bot as they are. */
  readonly heardMatches: boolean;
  /** Of six delays, how many the page named as the longest part of the answer. */
  readonly latencyPartsNamed: number;
}

export async function softphoneCalls(): Promise<SoftphoneFigures> {
  progress('a person calls by microphone');
  const heardMatches = await heard();
  let named = 0;
  for (const [name, slowness] of Object.entries(SLOW)) {
    progress(`${name} is slow`);
    const found = await longestPart(slowness);
    if (found === name) named += 1;
    else progress(`  the page says: ${found}`);
  }
  return { softphoneCalls: Object.keys(SLOW).length + 1, heardMatches, latencyPartsNamed: named };
}

async function heard(): Promise<boolean> {
  const lab = await SoftphoneLab.start();
  try {
    await lab.call();
    await lab.happens('start_of_input');
    await lab.happens('prompts_over', 2);
    await lab.leave();
    const played = await lab.played();
    return [WELCOME, ANSWER].every((prompt) => sharePlayed(prompt, played) >= LEAST_PLAYED);
  } finally {
    await lab.close();
  }
}

/** What the page says is the longest part of the answer to a question. */
async function longestPart({ argv = [], delays = {}, toolMs = 0, lineMs = 0 }: Slowness): Promise<string> {
  const rules = [
    { when: '/tuesday/i', use: 'look', input: { ms: toolMs } },
    { after: 'look', say: 'I have nine and eleven.' },
  ];
  const models = await fakeModels({ rules, delays });
  // A prompt that was spoken once would be there at once.
  const synthesizer = [
    '--synthesizer.engine=http',
    '--synthesizer.cache_folder=',
    `--synthesizer.http.url=${models.url}`,
    '--synthesizer.http.model=fake',
  ];
  const relays: { close(): void }[] = [];
  const through = async (target: string): Promise<string> => {
    const { protocol, port: serverPort } = new URL(target);
    const relay = await startRelay(Number(serverPort), lineMs);
    relays.push(relay);
    return relay.target.replace(/^\w+:/u, protocol);
  };
  const lab = await SoftphoneLab.start({
    ...{ bots: { 'desk.mjs': DESK }, modelsUrl: models.url, through },
    // Nothing is suspected, so nothing runs ahead.
    argv: [...synthesizer, '--speech.resume_grace_ms=0', '--speech.end_silence_ms=600', ...argv],
  });
  try {
    await lab.call(false);
    await lab.happens('prompts_over');
    await lab.say('Do you have anything on Tuesday?');
    await lab.happens('prompts_over', 2);
    await lab.leave();
    await lab.page.locator('.filter select').selectOption('turn');
    await lab.page.getByRole('option', { name: /Tuesday/u }).click();
    const said = await lab.page.getByText(/the longest part/u).textContent();
    return /the longest part: (?<name>\w+)/u.exec(said ?? '')?.groups?.['name'] ?? 'nothing';
  } finally {
    await lab.close();
    for (const relay of relays) relay.close();
    await models.close();
  }
}

/** The size of the picture. */
const PICTURE = { width: 1180, height: 920 };
const SAID = ['Do you have anything on Tuesday?', 'Nine is good.', 'No, thank you. Goodbye.'];

/** Takes the picture of the page that the documentation shows: a call of the bundled appointments bot. @param file - PNG. */
export async function takePicture(file: string): Promise<void> {
  const lab = await SoftphoneLab.start({ argv: [`--bots.folder=${path.join(ROOT, 'bots')}`] });
  try {
    const { page } = lab;
    await page.setViewportSize(PICTURE);
    await page.locator('[name=bot]').selectOption('appointments');
    await lab.call(false);
    for (const [index, words] of SAID.entries()) {
      await lab.happens('prompts_over', index + 1);
      await lab.say(words);
    }
    await lab.over();
    await page.locator('.filter select').selectOption('turn');
    await page.getByRole('option', { name: /Tuesday/u }).click();
    await page.screenshot({ path: file });
  } finally {
    await lab.close();
  }
}
