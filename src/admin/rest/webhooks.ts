// Requests for webhook registrations (5.5). `registration.ts` decides which webhooks there should be.
import { AppError } from '../../base/errors.ts';
import { readList } from '../records.ts';
import {
  readWebhook,
  writeWebhook,
  writeWebhookUpdate,
  type WebhookCreate,
  type WebhookRegistration,
  type WebhookUpdate,
} from '../webhook-records.ts';
import { nextPage } from './next-page.ts';
import type { RestAnswer } from './rest-answer.ts';
import { pathSegment, type RestClient } from './rest-client.ts';

const PATH = '/webhooks';
/** Entries per page, and most pages that are fetched: nobody has thousands of webhooks. */
const PAGE_ENTRIES = 100;
const MAX_PAGES = 20;

interface Page {
  readonly entries: readonly WebhookRegistration[];
  readonly next: string | undefined;
}

/** Each method rejects as {@link RestClient.send} does. */
export class Webhooks {
  readonly #rest: RestClient;

  /** @param rest - sends requests with the tokens of the integration. */
  constructor(rest: RestClient) {
    this.#rest = rest;
  }

  /** Registers a webhook. Not idempotent: first list and match. @throws AppError `config_invalid` for an invalid webhook. */
  async create(create: WebhookCreate, signal: AbortSignal): Promise<WebhookRegistration> {
    return this.#rest.send({ method: 'POST', path: PATH, body: { ...writeWebhook(create) } }, signal, ({ body }) => readWebhook(body));
  }

  /**
   * Lists all webhooks, page by page.
   *
   * @throws AppError `platform_answer_invalid` when pages lead elsewhere, in a circle, or do not end: an incomplete list would cause
   * duplicate registrations.
   */
  async list(signal: AbortSignal): Promise<readonly WebhookRegistration[]> {
    const found: WebhookRegistration[] = [];
    const seen = new Set<string>();
    let path: string | undefined = `${PATH}?max=${String(PAGE_ENTRIES)}`;
    while (path !== undefined) {
      if (seen.has(path) || seen.size >= MAX_PAGES) {
        throw new AppError('platform_answer_invalid', `the pages of the list of webhooks do not end (${String(seen.size)} were read)`);
      }
      seen.add(path);
      const { entries, next }: Page = await this.#rest.send({ method: 'GET', path }, signal, (answer) => this.#page(answer));
      found.push(...entries);
      path = next;
    }
    return found;
  }

  /** Changes the members that can be changed. @throws AppError `config_invalid` for an invalid change. */
  async update(id: string, update: WebhookUpdate, signal: AbortSignal): Promise<WebhookRegistration> {
    const request = { method: 'PUT', path: `${PATH}/${pathSegment(id)}`, body: { ...writeWebhookUpdate(update) } } as const;
    return this.#rest.send(request, signal, ({ body }) => readWebhook(body));
  }

  /** Deletes a webhook. Also succeeds when an earlier attempt of the same request has deleted it. */
  async delete(id: string, signal: AbortSignal): Promise<void> {
    await this.#rest.delete(`${PATH}/${pathSegment(id)}`, signal);
  }

  #page({ body, headers }: RestAnswer): Page {
    return { entries: readList(body, readWebhook), next: nextPage(headers.get('link'), this.#rest.address.baseUrl) };
  }
}
