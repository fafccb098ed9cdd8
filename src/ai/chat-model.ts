// A model behind the chat completions protocol, which most services and local servers speak. Needs only an address, a model name and a
// key.
import type { LanguageModel } from './model.ts';

/** See {@link chatModel}. */
export interface ChatModelOptions {
  /** Address of the service, with its version: `http://127.0.0.1:8089/v1`. */
  readonly url: string;
  /** The model's name at the service. */
  readonly model: string;
  /** Sent as a bearer token. Default: none, as for most local servers. */
  readonly key?: string;
}

/**
 * A model of any service that speaks chat completions. Other models come from AI SDK providers.
 *
 * @throws TypeError for an invalid address.
 *
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
  // Loading the package takes 0.1 s; loading it now spares the first caller that wait.
  loaded().catch(() => undefined);
  return {
    ...{ specificationVersion: 'v3', provider: 'chat', modelId: model },
    doStream: async (call) => (await loaded()).doStream(call),
  };
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}
