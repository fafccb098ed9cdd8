// The languages that the engine speaks and understands by itself.
import { DE } from './languages/de.ts';
import { EN } from './languages/en.ts';
import { ES } from './languages/es.ts';
import { FR } from './languages/fr.ts';
import type { Language } from './languages/language.ts';

export type { Language } from './languages/language.ts';

/** Language tags that are accepted: a part of BCP 47. */
export const LANGUAGE_TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}$/u;

/** By primary subtag. */
export const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ['en', EN],
  ['es', ES],
  ['de', DE],
  ['fr', FR],
]);

/**
 * The value for a language: that of exactly this tag, else that of its primary subtag.
 *
 * @param byTag - keys in lower case.
 * @param tag - BCP 47: `es`, `es-MX`.
 */
export function inLanguage<T>(byTag: ReadonlyMap<string, T>, tag: string): T | undefined {
  const whole = tag.toLowerCase();
  return byTag.get(whole) ?? byTag.get(primarySubtag(whole));
}

/** `es` of `es-MX`. */
export function primarySubtag(tag: string): string {
  return tag.toLowerCase().split('-', 1)[0] ?? '';
}
