// Values as the page of the server writes them.

/** Characters of a shortened id: enough to distinguish it from others. */
const SHORT_ID = 8;

export function shortId(id: string): string {
  return id.slice(0, SHORT_ID);
}

/** A time of day, with the date when it is another day. */
export function clockTime(ms: number, nowMs: number): string {
  const [date, now] = [new Date(ms), new Date(nowMs)];
  const time = date.toLocaleTimeString();
  return date.toDateString() === now.toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}

/** A length of time in its two largest units: `2 h 5 min`. */
export function span(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  const [days, hours, minutes, seconds] = [Math.floor(s / 86_400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60, s % 60];
  if (days > 0) return `${String(days)} d ${String(hours)} h`;
  if (hours > 0) return `${String(hours)} h ${String(minutes)} min`;
  return minutes > 0 ? `${String(minutes)} min ${String(seconds)} s` : `${String(seconds)} s`;
}

/** `1,210 ms`, or a dash. */
export function shownMs(ms: number | undefined): string {
  return ms === undefined ? '–' : `${Math.round(ms).toLocaleString('en')} ms`;
}

export function count(number: number): string {
  return number.toLocaleString('en');
}

/** A word of the server for people. */
export function inWords(name: string): string {
  return name.replaceAll('_', ' ');
}
