// How the name of a recording is shown in errors and logs.

/** A file name as errors and logs show it: bots choose recordings by what the caller typed, so each digit is a `#` (G-68). */
export function shownFile(file: string): string {
  return JSON.stringify(file.slice(0, 255).replaceAll(/\p{Nd}/gu, '#'));
}
