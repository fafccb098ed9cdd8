// Where servers of tests keep what they have spoken: one that speaks the prompts of the bundled bots spends two thirds of its start
// on that.
import { keptFolder } from './kept-folders.ts';

/** For `synthesizer.cache_folder`. */
export const SPOKEN_PROMPTS = keptFolder('prompts', ['package-lock.json', 'src/speech', 'src/voice']);
