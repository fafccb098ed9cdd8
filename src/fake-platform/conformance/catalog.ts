// The table of all checks: their rules, their needs, and what a server does that passes. The files in `checks` say how each check
// is run. Knows no wire and no server.
import type { Lab } from './lab.ts';
import { MAX_AGENTS } from './survey.ts';
import type { Level } from './verdict.ts';

/**
 * What a check needs. `call`: a call can be placed. `speech`: the caller has a voice.
 * `token_check`: the server checks tokens. `token`: a good token is known. `signer`: a platform signs tokens on request.
 */
export type Need = 'call' | 'speech' | 'token_check' | 'token' | 'signer';

/** One named check, for every transport or for one of them. */
export interface Check extends ListedCheck {
  /** The check passes when this returns. @throws CheckOutcome otherwise, by {@link Lab.fail}, {@link Lab.skip} and {@link Lab.giveUp}. */
  run(lab: Lab): Promise<void>;
}

/** The row of a check in the table. */
export interface ListedCheck {
  /** Kebab-case, unique. */
  readonly id: string;
  /** A failure names the first rule; the check covers the others, too. */
  readonly rules: readonly [string, ...string[]];
  /** What a server does that passes: a sentence. */
  readonly title: string;
  readonly needs: readonly Need[];
  readonly level: Level;
  /** `last`: runs alone, after all others, because the check changes which keys the server has cached. Default: in parallel. */
  readonly phase?: 'last';
}

export type Runs<Surroundings extends Lab = Lab> = Readonly<Partial<Record<CheckId, (lab: Surroundings) => Promise<void>>>>;

export type CheckId = keyof typeof CATALOG;

type Row = readonly [rules: string, needs: readonly Need[], title: string, level?: Level, phase?: 'last'];

const NOTHING: readonly Need[] = [];
const CALL: readonly Need[] = ['call'];
const SPEECH: readonly Need[] = ['call', 'speech'];
const TOKEN_CHECK: readonly Need[] = ['token_check'];
const TOKEN: readonly Need[] = ['token_check', 'token'];
const CALL_TOKEN: readonly Need[] = ['call', 'token_check', 'token'];
const SIGNER: readonly Need[] = ['token_check', 'token', 'signer'];

// Sorted like the contract.
// oxfmt-ignore
const CATALOG = {
  'other-methods-unimplemented': ['G-01', NOTHING, 'Any method but the two is answered with UNIMPLEMENTED.'],
  'both-methods-served': ['G-01', NOTHING, 'Both methods of the media service are there.'],
  'list-wants-token': ['G-02 G-04', TOKEN_CHECK, 'The agents are not listed without a token.'],
  'no-token-refused': ['G-02 J-21', TOKEN_CHECK, 'An RPC without a token, with its first message sent, ends as UNAUTHENTICATED without a response.'],
  'refused-before-first-message': ['G-02', TOKEN_CHECK, 'An RPC without a token is refused before its first message is there.', 'ours'],
  'bearer-accepted': ['G-03 J-20', TOKEN, 'The token is taken after “Bearer” as it is alone.'],
  'bearer-in-any-case': ['G-03', TOKEN, 'The token is taken after “bearer” and “BEARER”, too: the name of a scheme has no case.', 'advice'],
  'malformed-token-refused': ['G-03 J-21', TOKEN_CHECK, 'An empty token and one without exactly three parts are refused.'],
  'health-check-is-open': ['G-04 O-04', TOKEN_CHECK, 'The single health question needs no token, and watching health does.', 'advice'],
  'listed-agents-can-be-called': ['G-05', CALL, `The list is answered, every agent on it has an id of its own, and the first ${String(MAX_AGENTS)} answer a call.`],
  'agent-ids-stable': ['G-06', CALL, 'Agent ids are the same each time they are asked for.'],
  'one-default-agent': ['G-07', CALL, 'At most one agent is marked as the default.', 'ours'],
  'unnamed-call-gets-default': ['G-07', CALL, 'A call that names no agent gets the default one, else the first on the list.', 'advice'],
  'foreign-organization-refused': ['G-08', CALL_TOKEN, 'A message of an organization that is not the token’s is refused.'],
  'organization-does-not-change': ['G-08', CALL_TOKEN, 'A later RPC of a call that names another organization is refused.'],
  'half-close-goes-on': ['G-12 G-11', CALL, 'A half-close is no hang-up: the next RPC goes on with the call.'],
  'rpc-completed-with-ok': ['G-13', CALL, 'The server completes every RPC with OK, after a FINAL or without one.'],
  'one-final-and-nothing-after': ['G-14', CALL, 'One FINAL closes an RPC, and nothing follows it.'],
  'call-outlives-connection': ['G-15', CALL, 'A call goes on when its next RPC comes in on another connection.'],
  'cancel-ends-one-rpc': ['G-16', CALL, 'A cancelled RPC ends that RPC and not the call.'],
  'agent-does-not-change': ['G-17', CALL, 'A later RPC that names another agent is INVALID_ARGUMENT.', 'advice'],
  'message-without-input': ['G-18', CALL, 'A message without any input is ignored or INVALID_ARGUMENT.', 'ours'],
  'welcome-on-its-rpc': ['G-21 G-25', NOTHING, 'SESSION_START is answered on its own RPC by a welcome with a prompt and a FINAL.'],
  'start-may-come-again': ['G-28', CALL, 'SESSION_START may come again for a known call: a prompt answers it, and the call goes on.', 'advice'],
  'speech-as-linear16-8k': ['G-31', SPEECH, 'Speech is heard when it comes as 16-bit PCM at 8 kHz, which samples take beside the platform’s µ-law.', 'advice'],
  'speech-as-linear16-16k': ['G-31', SPEECH, 'Speech is heard when it comes as 16-bit PCM at 16 kHz, which samples take beside the platform’s µ-law.', 'advice'],
  'speech-as-wav': ['G-31', SPEECH, 'Speech is heard when it comes as a WAV file, which samples take beside the platform’s µ-law.', 'advice'],
  'format-remembered': ['G-32', SPEECH, 'A format that was named once holds for all later audio of the call.', 'advice'],
  'tiny-packets-taken': ['G-33', CALL, 'A few packets of 3 bytes before the first audio, as the platform sends them, break nothing.'],
  'probes-are-no-speech': ['G-34', SPEECH, 'Audio of less than 15 bytes is no sound, however much of it comes.', 'advice'],
  'only-speech-announced': ['G-36', CALL, 'Silence and line noise are not announced as speech.'],
  'speech-announced-once': ['G-36', SPEECH, 'Every utterance is announced by START_OF_INPUT, once and in a response of its own.'],
  'only-speech-reported': ['G-36 W-23', CALL, 'Silence and line noise are not reported as START_OF_INPUT.'],
  'start-waits-for-uncuttable-prompt': ['G-37', SPEECH, 'Speech is not announced while a prompt plays that may not be cut.'],
  'speech-end-then-reply': ['G-38', SPEECH, 'The end of speech is reported by END_OF_INPUT, then comes the reply.'],
  'speech-start-is-final': ['G-39', SPEECH, 'START_OF_INPUT is a FINAL: as a CHUNK it would stop the caller’s audio.'],
  'one-mode-per-call': ['G-40', CALL, 'Sound travels in one mode from the start of a call to its end.'],
  'wav-has-header': ['G-41', CALL, 'The sound of a FINAL begins with a RIFF header.'],
  'chunk-size-and-form': ['G-42 G-47', CALL, 'A CHUNK carries 100 to 65,536 bytes of sound without a header.'],
  'stream-ends-with-empty-final': ['G-43', CALL, 'After the last CHUNK comes one FINAL without sound.'],
  'settings-only-on-final': ['G-44', CALL, 'Input mode and input settings stand on the FINAL and on nothing else.', 'advice'],
  'partial-only-where-allowed': ['G-45', CALL, 'No PARTIAL answers a request that does not allow it.'],
  'partial-closes-nothing': ['G-45', CALL, 'A reply to a request that allows PARTIAL responses ends with a FINAL as any other.'],
  'uncancelled-partial-only': ['G-45', CALL, 'The field disable_prompt_cancellation stands on a PARTIAL and on nothing else.', 'advice'],
  'no-text-beside-chunks': ['G-46', CALL, 'A CHUNK with sound carries no text, which the platform might speak as well.', 'advice'],
  'wav-is-playable': ['G-48', CALL, 'A WAV is µ-law or 16-bit PCM, at 8 or 16 kHz, mono.'],
  'short-remainder-not-alone': ['G-49', CALL, 'A remainder under 100 bytes is joined to the CHUNK before it or filled up.'],
  'overlap-taken': ['G-50', CALL, 'A second RPC of a call is taken while the first is still open.'],
  'barge-in-heard': ['G-52', SPEECH, 'A caller who speaks into a prompt that may be cut is announced on the newer RPC.'],
  'cut-reply-stops': ['G-53', SPEECH, 'A reply that is cut stops at once, and its RPC is completed with OK.'],
  'first-key-on-listening-rpc': ['G-54', CALL, 'A key that is pressed on a listening RPC ends that RPC without a prompt.'],
  'farewell-cannot-be-cut': ['G-55', CALL, 'The caller may not interrupt the farewell: neither a prompt beside a terminal event nor the chunks before it.', 'advice'],
  'answers-on-own-rpc': ['G-57', CALL, 'What answers one RPC is never written to another.'],
  'first-key-without-answer': ['G-61', CALL, 'START_OF_DTMF is answered by completion alone.'],
  'first-key-stops-reply': ['G-61 G-53', CALL, 'START_OF_DTMF stops a reply that is being streamed.'],
  'digits-answered': ['G-63', CALL, 'Digits are answered by a prompt or an event, with a FINAL and completion.'],
  'other-keys-answered': ['G-63', CALL, 'Keys are answered also when they are none that the bot knows.'],
  'digits-over-prompt-answered': ['G-63', CALL, 'Keys that are pressed while a prompt plays that may be cut are answered.'],
  'no-digits-survived': ['G-65', CALL, 'A collection without digits is answered and breaks nothing.'],
  'every-key-taken': ['G-66', CALL, 'Every key is taken under its number: 0 is 10, star 15, pound 16.'],
  'silence-asked-about': ['G-71', CALL, 'NO_INPUT is answered by a prompt or by the end of the call.'],
  'custom-event-has-name': ['G-73', CALL, 'A CUSTOM_EVENT for the flow has a name.'],
  'hang-up-without-prompt': ['G-75', CALL, 'SESSION_END from the platform is answered without a prompt, and completed.'],
  'end-on-final': ['G-76', CALL, 'The server ends a call by SESSION_END on a FINAL.'],
  'transfer-on-final': ['G-77', CALL, 'The server hands a call over by TRANSFER_TO_AGENT on a FINAL.'],
  'one-terminal-event': ['G-77', CALL, 'A call has one terminal event.'],
  'end-without-settings': ['G-78', CALL, 'A response with SESSION_END has neither input mode nor input settings.'],
  'transfer-without-settings': ['G-78', CALL, 'A response with TRANSFER_TO_AGENT has neither input mode nor input settings.', 'advice'],
  'transfer-content': ['G-79', CALL, 'A transfer is named transfer_requested, and its routing hint and summary are as the platform reads them.', 'advice'],
  'end-waits-for-farewell': ['G-7A', CALL, 'A terminal event behind a streamed farewell waits until it has been heard.', 'advice'],
  'summary-on-last-response': ['G-7B', CALL, 'Data about the whole session is on the last response of a call that the server ends.'],
  'silent-after-the-end': ['G-7C', CALL, 'After a terminal event no RPC of the call gets a prompt.'],
  'settings-on-every-final': ['G-80', CALL, 'Every FINAL that does not end the call carries input settings.'],
  'mode-on-every-final': ['G-80 G-81', CALL, 'Every FINAL that does not end the call carries an input mode; without one the caller may speak and press keys.', 'advice'],
  'times-not-negative': ['G-82', CALL, 'No time or length of the input settings is below 0; 0 is how silence is never reported.'],
  'unknown-event-survived': ['G-90', CALL, 'An event of a later contract breaks nothing.'],
  'unknown-key-survived': ['G-90', CALL, 'A key and an audio format of a later contract break nothing.'],
  'unknown-fields-survived': ['G-90', CALL, 'Fields of a later contract break nothing.'],
  'odd-json-refused': ['G-92 J-2C', TOKEN_CHECK, 'A token that makes a careless check throw is refused, by any error: nothing that breaks lets anybody in.'],
  'admitted-call-not-cut': ['J-04', SIGNER, 'An RPC that was let in is not cut when its token ends.', 'ours'],
  'admitted-socket-not-cut': ['J-04', SIGNER, 'A call that was let in is not cut when its token ends.', 'ours'],
  'other-scheme-refused': ['J-10 J-21', TOKEN_CHECK, 'Another scheme and what is no base64url are refused.'],
  'alg-none-refused': ['J-11 J-22', TOKEN, 'A token without a signature algorithm is refused.'],
  'hs256-refused': ['J-11 J-22', SIGNER, 'A token that is signed with the public key as a secret is refused.'],
  'foreign-issuer-refused': ['J-12', TOKEN, 'A token of an unknown issuer is refused; beside the server, also one whose keys can be fetched.'],
  'key-id-demanded': ['J-14 J-25', SIGNER, 'A token is refused whose key id is missing or unknown.', 'must', 'last'],
  'foreign-signature-refused': ['J-15 J-26', TOKEN, 'A token that another key has signed, or that was changed, is refused.'],
  'expired-refused': ['J-16 J-27', SIGNER, 'A token that has ended is refused.'],
  'endless-refused': ['J-16 J-27', SIGNER, 'A token without an end is refused.'],
  'not-yet-valid-refused': ['J-16 J-27', SIGNER, 'A token that is not valid yet is refused.'],
  'audience-demanded': ['J-17 J-28', SIGNER, 'A token with another audience is refused.'],
  'subject-demanded': ['J-17 J-28', SIGNER, 'A token with another subject is refused.'],
  'nonce-demanded': ['J-18 J-28', SIGNER, 'A token with another nonce is refused.'],
  'url-demanded': ['J-19 J-28 J-29', SIGNER, 'The address is compared character for character.'],
  'schema-demanded': ['J-1A J-28 J-2E', SIGNER, 'A token with another schema is refused.'],
  'organization-demanded': ['J-1B J-28', SIGNER, 'A token of an organization that nobody knows is refused.'],
  'refusals-look-alike': ['J-1C', TOKEN, 'Every refused token is refused in the same words: the reason is for operators.', 'ours'],
  'good-token-accepted': ['J-20', TOKEN_CHECK, 'A good token is let in.'],
  'malformed-token-no-upgrade': ['J-21 W-06', TOKEN_CHECK, 'An empty token and one without exactly three parts are refused.'],
  'critical-header-refused': ['J-22', SIGNER, 'A token with a header that must be understood is refused.', 'advice'],
  'foreign-issuer-not-asked': ['J-23 J-12', TOKEN, 'An unknown issuer is not even asked for its keys.'],
  'look-alike-issuer-refused': ['J-24 J-12', SIGNER, 'An issuer that looks like a trusted one is refused.'],
  'key-requests-bounded': ['J-25 J-14', SIGNER, 'Unknown key ids do not make the server ask for the keys again and again.', 'must', 'last'],
  'clock-skew-allowed': ['J-27', SIGNER, 'A token that ended 20 s ago is let in: clocks may differ by up to 30 s.', 'ours'],
  'audience-list-refused': ['J-28 J-17', SIGNER, 'A token whose audience is a list is refused.', 'ours'],
  'new-key-learned': ['J-2A', SIGNER, 'A token of a new key is let in once the keys were asked for again, and one of the old key still is.'],
  'odd-json-no-upgrade': ['J-2C W-06', TOKEN_CHECK, 'A token that makes a careless check throw is refused: nothing that breaks lets anybody in.'],
  'access-token-refused': ['J-2F', SIGNER, 'A token that says it is an access token is refused.', 'advice'],
  'both-channels-served': ['W-01 W-05', NOTHING, 'The voice channel and the list channel are there.'],
  'no-token-no-upgrade': ['W-06 J-21', TOKEN_CHECK, 'Without a token the upgrade is answered with HTTP 401, on both channels.'],
  'bare-token-refused': ['W-06 W-05', TOKEN, 'A token without “Bearer” before it is refused.', 'advice'],
  'unknown-path-no-upgrade': ['W-07', NOTHING, 'Any other path is answered with HTTP 404, and not upgraded.', 'ours'],
  'text-frames-wanted': ['W-0A', CALL, 'What comes in a binary frame is not answered.', 'advice'],
  'text-frames-sent': ['W-0A', CALL, 'The server sends text frames only.'],
  'seq-increases': ['W-10', CALL, 'Every message of the server has a seq that is higher than the one before, from 1.'],
  'gaps-taken': ['W-10', CALL, 'Gaps in the numbers of the platform’s messages are taken.'],
  'repeated-seq-refused': ['W-10', CALL, 'A seq that comes again or falls is refused.', 'advice'],
  'seq-is-own': ['W-11', CALL, 'The server counts its own messages: its seq does not repeat the one of what it answers.'],
  'envelope-shape': ['W-12', CALL, 'Every message is an envelope with type, ts and conversation_id, and a payload by its schema.'],
  'newer-fields-taken': ['W-12', CALL, 'Fields that a newer platform may send, and the metadata that the contract names, are taken.'],
  'own-conversation-named': ['W-13', CALL, 'Every message of the server names the conversation of its socket.'],
  'mismatch-refused': ['W-13', CALL, 'A message whose envelope and payload name different conversations gets an ERROR, and the socket is closed.'],
  'no-input-time-not-sent': ['W-14', CALL, 'The field no_input_timeout_msec is not sent: the schema has none.', 'advice'],
  'cancellation-field-on-partial': ['W-15', CALL, 'The field disable_prompt_cancellation stands on a PARTIAL and on nothing else.', 'advice'],
  'quirks-taken': ['W-16', CALL, 'Maps that come as lists, and fields that are null, are taken as the real platform sends them.'],
  'list-question-tolerated': ['W-16', CALL, 'Fields that are not known in the question for the agents are taken.'],
  'unknown-type-ignored': ['W-17', CALL, 'An envelope of a type that is not known is ignored: the conversation goes on.'],
  'first-message-starts': ['W-20', CALL, 'A first message that is no SESSION_START is refused.'],
  'silent-socket-ends': ['W-20', CALL, 'A socket on which no SESSION_START comes is closed after some ten seconds.', 'advice'],
  'starts-once': ['W-21', CALL, 'A second SESSION_START on a socket is not answered.'],
  'call-does-not-change': ['W-21', CALL, 'A message of another conversation, or for another agent, is not answered.'],
  'foreign-call-refused': ['W-22', CALL_TOKEN, 'A call of an organization that is not the token’s is refused and closed, without an answer.'],
  'utterances-delimited': ['W-23', SPEECH, 'Every utterance is reported by one START_OF_INPUT and one END_OF_INPUT, and then comes the reply.'],
  'audio-flows-on': ['W-23', SPEECH, 'The caller’s audio goes on while a reply comes, and the server takes it.'],
  'start-answered': ['W-24', NOTHING, 'SESSION_START is answered by a welcome with a FINAL.'],
  'one-final-per-reply': ['W-24', CALL, 'Every reply has exactly one FINAL, behind all its CHUNKs, and no PARTIAL that was not allowed.'],
  'final-keeps-socket': ['W-24', CALL, 'A FINAL does not close the socket.'],
  'final-has-one-prompt': ['W-25', CALL, 'The FINAL behind CHUNKs has one prompt with empty sound; no FINAL that goes on is without a prompt.'],
  'first-key-unanswered': ['W-26', CALL, 'START_OF_DTMF gets no reply.'],
  'keys-answered': ['W-26', CALL, 'Keys get a reply.'],
  'other-keys-replied-to': ['W-26', CALL, 'Keys get a reply also when they are none that the bot knows.'],
  'report-of-silence-answered': ['W-26', CALL, 'NO_INPUT is answered by a prompt or by the end of the call.'],
  'keys-over-prompt-answered': ['W-26', CALL, 'Keys that are pressed while a prompt plays that may be cut get a reply.'],
  'interruption-heard': ['W-27', SPEECH, 'A caller who speaks into a prompt that may be cut is announced by START_OF_INPUT.'],
  'interrupted-reply-stops': ['W-27', SPEECH, 'Behind START_OF_INPUT nothing more of the old reply is heard.'],
  'no-barge-in-message': ['W-27', CALL, 'There is no message BARGE_IN.'],
  'hang-up-unanswered': ['W-28', CALL, 'SESSION_END from the platform gets no prompt.'],
  'hang-up-closes': ['W-28', CALL, 'A server whose caller has hung up closes the socket when the platform does not.', 'advice'],
  'close-answered': ['W-29', CALL, 'The platform’s close is answered with 1000.'],
  'end-on-final-answer': ['W-29', CALL, 'The server ends a call by one terminal event, on a FINAL.'],
  'last-words-not-cut': ['W-29', CALL, 'The platform plays the farewell: no prompt before or beside a terminal event may be cut.', 'advice'],
  'last-words-heard-out': ['W-29', CALL, 'The server does not close the socket while the platform plays the farewell.'],
  'silent-behind-the-end': ['W-29', CALL, 'Behind a terminal event nothing is said any more.'],
  'sound-is-raw-mulaw': ['W-30', CALL, 'Sound is raw µ-law as base64, without a header.'],
  'sound-in-legal-pieces': ['W-31', CALL, 'A piece of sound has 320 to 32,768 bytes.'],
  'large-audio-taken': ['W-34', CALL, 'A message with 65,536 bytes of caller audio is taken.', 'advice'],
  'ping-answered': ['W-40', CALL, 'A PING is answered by a PONG with its seq and its conversation_id.'],
  'pong-leaves-seq-alone': ['W-41', CALL, 'The number of a PONG does not disturb the server’s own: they go on where they were.', 'ours'],
  'protocol-ping-answered': ['W-42', CALL, 'A ping of the protocol itself is answered by its pong.'],
  'malformed-message-refused': ['W-43 W-12', CALL, 'Text that is no JSON, and a request without a payload, are refused.'],
  'errors-by-the-book': ['W-43', CALL, 'An ERROR has one of the six codes, the right one, with a status number and a detail.'],
  'closed-with-right-code': ['W-44', CALL, 'A socket is closed with the code for what happened: 1002 or 1008, 1003 for binary frames, 1008 where no start came.'],
  'normal-end-is-1000': ['W-44', CALL, 'A socket that the server closes behind SESSION_END or a terminal event is closed with 1000.'],
  'huge-message-refused': ['W-45', CALL, 'A message of 20 MB is refused.', 'advice'],
  'compression-bounded': ['W-45', CALL, 'A compressed message that is 20 MB when it is unpacked is refused; compression need not be taken at all.', 'advice'],
  'silent-list-ends': ['W-45', CALL, 'A list channel on which no question comes is closed.', 'advice'],
  'error-before-close': ['W-46', CALL, 'Before a socket is closed for an error an ERROR says why.', 'ours'],
  'list-answered-once': ['W-51', CALL, 'The question is answered by one bare object with virtual_agents.'],
  'list-closes': ['W-51', CALL, 'Behind its answer the list channel is closed with 1000.', 'advice'],
  'listed-agents-answer': ['W-51', CALL, `Every agent on the list has an id of its own, and the first ${String(MAX_AGENTS)} answer a call.`],
  'list-fields-named': ['W-52', CALL, 'An agent on the list has id and name.'],
  'list-has-own-fields': ['W-52', CALL, 'An agent on the list has no field of the list of gRPC.', 'advice'],
  'foreign-list-refused': ['W-53', CALL_TOKEN, 'The list for an organization that is not the token’s is refused.'],
} as const satisfies Readonly<Record<string, Row>>;

/** The checks that have a function in `runs`, in the order of the contract. */
export function checksOf(runs: Readonly<Record<string, Check['run'] | undefined>>): readonly Check[] {
  return Object.entries<Row>(CATALOG).flatMap(([id, [names, needs, title, level = 'must', phase]]) => {
    const run = runs[id];
    if (run === undefined) return [];
    const [first = '', ...others] = names.split(' ');
    return [{ id, rules: [first, ...others], title, needs, level, ...(phase && { phase }), run }];
  });
}
