// How errors and logs show the name of a recording.

/** A file name for errors and logs: each digit is a `#`, because bots may choose recordings by what the caller typed (G-68). */
export function shownFile(file: string): string {
  return JSON.stringify(file.slice(0, 255).replaceAll(/\p{Nd}/gu, '#'));
}
