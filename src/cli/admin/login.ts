// `parley admin login`: a person authorizes the integration in a browser. The sealed store keeps the tokens; a server reads them at its
// next start. Of the tokens, the output shows only their expiry.
import { Command, InvalidArgumentError } from 'commander';
import type { LoginOptions } from '../../admin/oauth/login.ts';
import type { AdminSettings } from '../../app/admin-settings.ts';
import { AppError } from '../../base/errors.ts';
import { alignedRows } from '../../base/terminal/table.ts';
import { adminCommand, runWithAccess, type AdminWork } from './run.ts';
import type { Person } from './person.ts';
import { endText, isoTime } from './time-text.ts';

/** Default and longest wait for the person, s. */
const WAIT_S = 300;
const MAX_WAIT_S = 3600;
/** Time for everything but that wait, ms. */
const REST_MS = 60_000;

const NO_END = 'the platform does not say until when';
const NO_REFRESH = 'none was given: log in again before the access token ends';

/** Advice for each `admin.login`, in case the method has no login. */
const INSTEAD: Readonly<Record<AdminSettings['login'], string>> = {
  service_app: 'nothing stands in for it',
  oauth_refresh: 'the refresh token of admin.oauth.refresh_token stands in for it, and the server renews it by itself',
  static_token: 'the access token of admin.static_token.access_token stands in for it, and whoever made it renews it',
};

interface LoginFlags {
  readonly browser: boolean;
  readonly waitS: number;
  readonly listen?: string;
  readonly paste?: boolean;
}

/** The command. @param person - owns the browser. */
export function loginCommand(person: Person): Command {
  const command = adminCommand(new Command('login'), 'login --config my.yaml')
    .description('log in with the integration, in a browser that comes back to admin.integration.redirect_uri on this machine')
    .option('--no-browser', 'open no browser; the address is printed in any case')
    .option('--listen <host:port>', 'receive the browser here, behind a proxy of yours that has the https redirect address', listenOf)
    .option('--paste', 'receive no browser: paste the address that it ends at; always so for an https redirect address without --listen')
    .option('--wait-s <seconds>', `how long to wait for somebody to agree, 1 to ${String(MAX_WAIT_S)}`, waitOf, WAIT_S);
  return command.action(async (options: LoginFlags) => {
    const limitMs = options.waitS * 1000;
    await runWithAccess(
      command,
      'save',
      async ({ access, admin, clock, output, signal }) => {
        const { integration } = access.access;
        if (integration === undefined)
          throw new AppError('config_invalid', `nobody logs in with admin.login ${admin.login}: ${INSTEAD[admin.login]}`);
        const show = async (url: string): Promise<void> => {
          output.note(
            `Log in at this address, and agree:\n\n  ${url}\n\nWaiting for ${String(options.waitS)} seconds; Ctrl-C gives it up.\n`,
          );
          if (options.browser && person.isThere) await openedBrowser(person, url, output);
        };
        const { scopes } = integration;
        const { expiresAtMs, refreshExpiresAtMs, isRefreshable } = await integration.logIn(
          { show, limitMs, ...received(options, admin, person, output) },
          signal,
        );
        const nowMs = clock.nowMs();
        const isRefreshEndKnown = refreshExpiresAtMs !== undefined;
        output.show(
          {
            ...{ platform: access.address.baseUrl, scopes, storeFile: access.keptIn },
            accessTokenEnds: isoTime(expiresAtMs),
            refreshTokenEnds: isRefreshEndKnown ? isoTime(refreshExpiresAtMs) : null,
          },
          alignedRows([
            ['logged in at', access.address.baseUrl],
            ['scopes asked for', scopes.join(' ')],
            ['access token', `until ${endText(expiresAtMs, nowMs)}`],
            ['refresh token', isRefreshEndKnown ? `until ${endText(refreshExpiresAtMs, nowMs)}` : isRefreshable ? NO_END : NO_REFRESH],
            ['kept in', access.keptIn],
          ]),
        );
      },
      { limitMs: limitMs + REST_MS, ifHeld: 'stop it, log in, and start it again: it reads the tokens when it starts' },
    );
  });
}

/** The address has been printed, so a browser that does not open is no error. */
async function openedBrowser(person: Person, url: string, output: AdminWork['output']): Promise<void> {
  try {
    await person.openBrowser(url);
  } catch {
    output.note('No browser could be opened here: open the address yourself.\n');
  }
}

/** How the command gets the address to which the browser is redirected. */
function received(
  { listen, paste }: LoginFlags,
  { integration: { redirectUri } }: AdminSettings,
  person: Person,
  { note }: AdminWork['output'],
): Pick<LoginOptions, 'listen' | 'paste'> {
  const isPasted = paste ?? (listen === undefined && redirectUri.startsWith('https:'));
  if (!isPasted) return { listen };
  return {
    paste: (isAgain, signal) => {
      if (isAgain) note('This does not belong to the login that is under way.\n');
      return person.asksFor('Paste the whole address that the browser ends at, whatever the page shows: ', signal);
    },
  };
}

function listenOf(text: string): string {
  if (/^[\w.:[\]-]+:\d{1,5}$/u.test(text) && URL.canParse(`http://${text}`)) return text;
  throw new InvalidArgumentError('Write HOST:PORT, such as 127.0.0.1:8765.');
}

function waitOf(text: string): number {
  const seconds = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > MAX_WAIT_S) throw new InvalidArgumentError(`It is a whole number from 1 to ${String(MAX_WAIT_S)}.`);
  return seconds;
}
