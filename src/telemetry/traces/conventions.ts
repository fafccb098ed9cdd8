// The names of spans and attributes, in one table, because those of OpenTelemetry for language models (`gen_ai.…`) may still change.
// docs/traces.md lists all names, and a test compares both.

/** Names of spans; the name of the model or tool follows `chat` and `execute_tool`. */
export const SPANS = {
  call: 'call',
  turn: 'turn',
  recognition: 'recognition',
  bot: 'bot',
  model: 'chat',
  tool: 'execute_tool',
  synthesis: 'synthesis',
  forward: 'forward',
} as const;

/** Names of attributes. */
export const ATTRIBUTES = {
  organization: 'parley.organization_id',
  conversation: 'parley.conversation_id',
  tracking: 'parley.tracking_id',
  bot: 'parley.bot',
  transport: 'parley.transport',
  outcome: 'parley.outcome',
  turn: 'parley.turn_id',
  botEvent: 'parley.bot_event',
  latency: 'parley.reply_latency_ms',
  /** What the caller said: the only attribute with content, and only when the operator wants it. */
  words: 'parley.content.caller_words',
  error: 'error.type',
  operation: 'gen_ai.operation.name',
  model: 'gen_ai.request.model',
  tokensIn: 'gen_ai.usage.input_tokens',
  tokensOut: 'gen_ai.usage.output_tokens',
  tool: 'gen_ai.tool.name',
} as const;
