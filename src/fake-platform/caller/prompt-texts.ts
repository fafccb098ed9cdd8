// What a server tells of an RPC beside the audio, under a test setting: the texts of the prompts, and what went wrong. Knows no wire library.

/** The trailing metadata in which our own server sends the texts, when a test setting allows. */
export const PROMPT_TEXT_KEY = 'parley-prompt-text-bin';

/** The trailing metadata in which it marks, under the same setting, a reply as its apology for a bot that failed. */
export const APOLOGY_KEY = 'parley-apology';

/** The trailing metadata in which it says so, under the same setting, when its bot wants words and it has no recognizer. */
export const NO_RECOGNIZER_KEY = 'parley-no-recognizer';

/** The texts in the value of that key; none when it is something else: a foreign server may use the key as it likes. */
export function readPromptTexts(json: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list.filter((text): text is string => typeof text === 'string') : [];
  } catch {
    return [];
  }
}
