// Times and numbers as the pages write them.

/** Made once: it is slow to make. */
const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** A place in a call, `1:02.345`; with hours where there are some. */
export function shownTime(atMs: number): string {
  const ms = Math.max(0, Math.round(atMs));
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  const start = hours > 0 ? `${String(hours)}:${String(minutes).padStart(2, '0')}` : String(minutes);
  return `${start}:${String(seconds).padStart(2, '0')}.${String(ms % 1000).padStart(3, '0')}`;
}

/** The same without what is below a second. */
export function shownSeconds(atMs: number): string {
  return shownTime(Math.floor(atMs / 1000) * 1000).slice(0, -4);
}

/** A length, `1,210 ms`. */
export function shownMs(ms: number): string {
  return `${shownNumber(ms)} ms`;
}

/** A number, whole: `20,600`. */
export function shownNumber(number: number): string {
  return NUMBERS.format(number);
}

/** A word of the engine for people: `barge_in` becomes `barge in`. */
export function inWords(name: string): string {
  return name.replaceAll('_', ' ');
}
