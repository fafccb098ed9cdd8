// The form of address under which a WebSocket server is registered (W-03): scheme, host and port alone.

/**
 * True for `wss://host` and `wss://host:port`, likewise with `ws:`. Registered addresses are compared character for
 * character, so a slash at the end makes another one.
 */
export function isSocketOrigin(text: string): boolean {
  return /^wss?:\/\/[^\s/\\?#@]+$/iu.test(text) && URL.canParse(text);
}
