// Draws a window of a call: a ruler, the caller's sound, the way to each answer, the bot's sound. Knows no page.
import { PEAK_MS, type Mark, type Picture } from './waveform-parts.ts';
import { shownSeconds } from './shown-time.ts';

/** What of a call is seen. */
export interface Window {
  readonly fromMs: number;
  readonly spanMs: number;
}

/** Rows of the picture from above, CSS pixels. */
const RULER = { top: 0, height: 20 };
const CALLER_MARKS = { top: 20, height: 14 };
const CALLER = { top: 37, height: 48 };
const CALLER_TEXT = { top: 86, height: 18 };
const ANSWERS = { top: 106, height: 15 };
const MARKS = { top: 123, height: 14 };
const BOT = { top: 140, height: 48 };
const BOT_TEXT = { top: 189, height: 18 };
export const PICTURE_HEIGHT = 208;
export const OVERVIEW_HEIGHT = 28;

/** Pixels between two times of the ruler at least. */
const RULER_GAP = 72;
const RULER_STEPS_MS = [200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000, 600_000, 1_800_000];
/** Pixels that a mark needs on average: where there are more, only the major ones are drawn. */
const MARK_GAP = 8;

/** Colours by their names in look.css. */
export type Colours = Readonly<
  Record<'paper' | 'panel' | 'ink' | 'soft' | 'rule' | 'accent' | 'accentSoft' | 'wave' | 'bad' | 'onAccent', string>
>;

export function drawPicture(
  to: CanvasRenderingContext2D,
  width: number,
  picture: Picture,
  window: Window,
  chosen: number | undefined,
  colours: Colours,
): void {
  const x = (atMs: number): number => ((atMs - window.fromMs) / window.spanMs) * width;
  const isSeen = (fromMs: number, toMs: number): boolean => toMs >= window.fromMs && fromMs <= window.fromMs + window.spanMs;
  to.clearRect(0, 0, width, PICTURE_HEIGHT);
  drawTurns(to, width, picture, x, chosen, colours);
  to.font = '11px system-ui, sans-serif';
  to.textBaseline = 'middle';
  drawRuler(to, width, window, x, colours);
  for (const [row, peaks, colour] of [
    [CALLER, picture.caller, colours.wave],
    [BOT, picture.bot, colours.accent],
  ] as const) {
    drawPeaks(to, width, peaks, window, row, colour);
  }
  for (const [index, { fromMs, toMs, text }] of picture.speech.entries()) {
    if (!isSeen(fromMs, toMs)) continue;
    to.fillStyle = colours.ink;
    to.fillRect(x(fromMs), CALLER.top - 2, Math.max(1, x(toMs) - x(fromMs)), 2);
    drawText(to, text, x(fromMs), x(picture.speech[index + 1]?.fromMs ?? Infinity), CALLER_TEXT, colours.ink);
  }
  for (const [index, { fromMs, toMs, unheardToMs, text }] of picture.prompts.entries()) {
    if (!isSeen(fromMs, unheardToMs)) continue;
    const [left, cut] = [x(fromMs), x(toMs)];
    to.fillStyle = colours.accent;
    to.fillRect(left, BOT.top - 2, Math.max(1, cut - left), 2);
    drawText(to, text, left, unheardToMs > toMs ? cut : x(picture.prompts[index + 1]?.fromMs ?? Infinity), BOT_TEXT, colours.ink);
    if (unheardToMs > toMs) drawUnheard(to, cut, x(unheardToMs), colours);
  }
  for (const { fromMs, toMs, parts } of picture.answers) {
    if (!isSeen(fromMs, toMs)) continue;
    const [left, right] = [x(fromMs), x(toMs)];
    const whole = parts.reduce((sum, { ms }) => sum + ms, 0);
    for (const { name, fromMs: partMs, ms, isLongest } of parts) {
      if (ms === 0) continue;
      const begin = left + ((right - left) * partMs) / whole;
      const end = begin + ((right - left) * ms) / whole;
      to.fillStyle = isLongest ? colours.accent : colours.rule;
      to.fillRect(begin, ANSWERS.top, Math.max(1, end - begin - 1), ANSWERS.height);
      drawText(to, name, begin + 3, end - 3, ANSWERS, isLongest ? colours.onAccent : colours.ink);
    }
  }
  const marks = picture.marks.filter(({ atMs }) => isSeen(atMs, atMs));
  const isCrowded = marks.length * MARK_GAP > width;
  for (const [index, mark] of marks.entries()) {
    if (mark.isMajor || !isCrowded) drawMark(to, mark, x(mark.atMs), x(nextIn(marks, index)), colours);
  }
}

/** The whole call in one small strip, with the window that is seen. */
export function drawOverview(to: CanvasRenderingContext2D, width: number, picture: Picture, window: Window, colours: Colours): void {
  const whole = { fromMs: 0, spanMs: picture.durationMs };
  to.clearRect(0, 0, width, OVERVIEW_HEIGHT);
  drawPeaks(to, width, picture.caller, whole, { top: 0, height: OVERVIEW_HEIGHT / 2 }, colours.wave);
  drawPeaks(to, width, picture.bot, whole, { top: OVERVIEW_HEIGHT / 2, height: OVERVIEW_HEIGHT / 2 }, colours.accent);
  const [left, seen] = [(window.fromMs / picture.durationMs) * width, (window.spanMs / picture.durationMs) * width];
  to.strokeStyle = colours.ink;
  to.strokeRect(left + 0.5, 0.5, Math.max(3, seen - 1), OVERVIEW_HEIGHT - 1);
}

function drawRuler(
  to: CanvasRenderingContext2D,
  width: number,
  { fromMs, spanMs }: Window,
  x: (atMs: number) => number,
  colours: Colours,
): void {
  const stepMs = RULER_STEPS_MS.find((step) => (step / spanMs) * width >= RULER_GAP) ?? 3_600_000;
  to.textAlign = 'left';
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs <= fromMs + spanMs; atMs += stepMs) {
    const left = Math.round(x(atMs));
    to.fillStyle = colours.rule;
    to.fillRect(left, RULER.top + 12, 1, 8);
    to.fillStyle = colours.soft;
    const text = shownSeconds(atMs);
    to.fillText(stepMs < 1000 ? `${text}.${String((atMs % 1000) / 100)}` : text, left + 4, RULER.top + 10);
  }
}

/** Where turns begin, and which one is chosen. */
function drawTurns(
  to: CanvasRenderingContext2D,
  width: number,
  { turns }: Picture,
  x: (atMs: number) => number,
  chosen: number | undefined,
  colours: Colours,
): void {
  for (const [index, { atMs, number }] of turns.entries()) {
    const [left, right] = [Math.round(x(atMs)), x(turns[index + 1]?.atMs ?? Infinity)];
    if (right < 0 || left > width) continue;
    to.fillStyle = colours.accentSoft;
    if (number === chosen) to.fillRect(left, RULER.height, Math.min(right, width) - left, PICTURE_HEIGHT - RULER.height);
    to.fillStyle = colours.rule;
    to.fillRect(left, RULER.height, 1, PICTURE_HEIGHT - RULER.height);
  }
}

function drawPeaks(
  to: CanvasRenderingContext2D,
  width: number,
  peaks: Uint8Array,
  { fromMs, spanMs }: Window,
  { top, height }: { readonly top: number; readonly height: number },
  colour: string,
): void {
  const middle = top + height / 2;
  to.fillStyle = colour;
  for (let column = 0; column < width; column += 1) {
    const first = Math.floor((fromMs + (column / width) * spanMs) / PEAK_MS);
    const last = Math.max(first + 1, Math.floor((fromMs + ((column + 1) / width) * spanMs) / PEAK_MS));
    let peak = 0;
    for (let index = first; index < last; index += 1) peak = Math.max(peak, peaks[index] ?? 0);
    const half = Math.max(0.5, (peak / 255) * (height / 2));
    to.fillRect(column, middle - half, 1, half * 2);
  }
}

/** What was not heard is hatched: the sound that was sent is covered by it. */
function drawUnheard(to: CanvasRenderingContext2D, left: number, right: number, colours: Colours): void {
  to.save();
  to.beginPath();
  to.rect(left, BOT.top, right - left, BOT.height);
  to.clip();
  to.strokeStyle = colours.soft;
  for (let start = left - BOT.height; start < right; start += 6) {
    to.beginPath();
    to.moveTo(start, BOT.top + BOT.height);
    to.lineTo(start + BOT.height, BOT.top);
    to.stroke();
  }
  to.restore();
  drawText(to, 'not heard', left + 4, right, BOT_TEXT, colours.soft);
}

/** Where the marks of a lane stand, and how far down those reach that change the course of the call. */
const LANES = {
  caller: { ...CALLER_MARKS, bottom: CALLER.top + CALLER.height },
  server: { ...MARKS, bottom: MARKS.top + MARKS.height },
  bot: { ...MARKS, bottom: BOT.top + BOT.height },
} as const;

/** @param next - where the next mark beside it is: until there is room for words. */
function drawMark(to: CanvasRenderingContext2D, { lane, text, isMajor }: Mark, left: number, next: number, colours: Colours): void {
  const { top, height, bottom } = LANES[lane];
  to.fillStyle = isMajor ? colours.ink : colours.soft;
  to.fillRect(Math.round(left), top, 1, isMajor ? bottom - top : height);
  // Words without room are left out; they appear when the pointer is near.
  if (to.measureText(text).width < next - left - 10) drawText(to, text, left + 5, next, LANES[lane], isMajor ? colours.ink : colours.soft);
  if (!isMajor) return;
  // A flag says that it is no noise of the sound.
  to.beginPath();
  to.moveTo(left - 3.5, top);
  to.lineTo(left + 4.5, top);
  to.lineTo(left + 0.5, top + 6);
  to.fill();
}

/** When the mark behind another one in the same row is. */
function nextIn(marks: readonly Mark[], index: number): number {
  const row = LANES[marks[index]?.lane ?? 'server'].top;
  return marks.slice(index + 1).find(({ lane }) => LANES[lane].top === row)?.atMs ?? Infinity;
}

/** Text inside a stretch; shortened, and left out where there is room for nothing. */
function drawText(
  to: CanvasRenderingContext2D,
  text: string,
  left: number,
  right: number,
  { top, height }: { readonly top: number; readonly height: number },
  colour: string,
): void {
  const begin = Math.max(left, 4);
  const room = Math.min(right, to.canvas.clientWidth) - begin;
  if (room < 24 || text === '') return;
  let shown = text;
  while (to.measureText(shown).width > room && shown.length > 1) {
    const fitting = Math.floor(((shown.length - 1) * room) / to.measureText(shown).width);
    shown = `${text.slice(0, Math.min(shown.length - 2, fitting)).trimEnd()}…`;
  }
  if (shown.length < Math.min(text.length, 4)) return;
  to.fillStyle = colour;
  to.textAlign = 'left';
  to.fillText(shown, begin, top + height / 2);
}
