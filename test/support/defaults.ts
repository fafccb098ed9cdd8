// The values of config/default.yaml, for tests of what a server does with nothing configured.
import { loadSections } from '../../src/app/config/load-settings.ts';

/** What callers may do where the bot says nothing about it. */
export const DEFAULT_LISTEN = loadSections({ env: {} }, 'listen').settings.listen;
