// A model behind the chat completions protocol, which most services and local servers offer. Needs only an address and a model name; most
// services also want a key.
import type { LanguageModel } from './model.ts';

/** See {@link chatModel}. */
export interface ChatModelOptions {
  /** Address of the service, including the version of its API: `http://127.0.0.1:8089/v1`. */
  readonly url: string;
  /** The model's name at the service. */
  readonly model: string;
  /** Sent as a bearer token. Default: none, as for most local servers. */
  readonly key?: string;
}

/**
 * Makes a model of any service that offers chat completions. Other models come from AI SDK providers.
 * @throws TypeError for an invalid address.
 * @example
 * const model = chatModel({ url: 'http://127.0.0.1:8089/v1', model: 'small' });
 */
export function chatModel({ url, model, key }: ChatModelOptions): LanguageModel {
  if (!/^https?:$/u.test(protocolOf(url))) throw new TypeError(`the model's address "${url}" is no http or https address`);
  let loading: Promise<LanguageModel> | undefined;
  const loaded = (): Promise<LanguageModel> =>
    (loading ??= import('@ai-sdk/openai-compatible').then(({ createOpenAICompatible }) =>
      createOpenAICompatible({ name: 'chat', baseURL: url, includeUsage: true, ...(key !== undefined && { apiKey: key }) })(model),
    ));
  // Loading the package takes 0.1 s. Loaded now, it delays no caller.
  loaded().catch(() => undefined);
  return {
    ...{ specificationVersion: 'v3', provider: 'chat', modelId: model },
    doStream: async (call) => (await loaded()).doStream(call),
  };
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}
