// What the prompts of an RPC said, where a server names it beside the audio, and whether they were its apology. Knows no wire library.

/** Key of the trailing metadata in which our own server names the texts, when a test setting allows. */
export const PROMPT_TEXT_KEY = 'parley-prompt-text-bin';

/** Key of the trailing metadata in which it says, under the same setting, that a reply was its apology for a bot that failed. */
export const APOLOGY_KEY = 'parley-apology';

/** The texts in the value under that key; none when it is something else: a foreign server may use the key as it likes. */
export function readPromptTexts(json: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list.filter((text): text is string => typeof text === 'string') : [];
  } catch {
    return [];
  }
}
