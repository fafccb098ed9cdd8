// Whom to call, and how: bot, transport, line and microphone; call and hang up.
import type { Choices, LineQuality, WantedCall } from '../../src/fake-platform/softphone/softphone-api.ts';
import type { PhoneLine } from './phone-line.ts';

const LINES: Readonly<Record<LineQuality, string>> = {
  good: 'good',
  jitter: 'caller late by up to 150 ms',
  bursts: 'caller in bursts of 400 ms',
  'slow reader': 'platform reads slowly',
  noise: 'street noise',
  'breaks off': 'breaks off after 20 s',
};

export type Wanted = Omit<WantedCall, 'type' | 'again'> & { readonly usesMicrophone: boolean };

interface DialProps {
  readonly choices: Choices | undefined;
  readonly wanted: Wanted;
  /** Undefined: no call goes on. */
  readonly line: PhoneLine | undefined;
  /** Id of the call whose caller can call again. */
  readonly lastCall: string | undefined;
  readonly onWanted: (wanted: Wanted) => void;
  readonly onCall: (again?: string) => void;
}

export function Dial({ choices, wanted, line, lastCall, onWanted, onCall }: DialProps) {
  const isBusy = line !== undefined;
  return (
    <div class="dial">
      <label>
        Bot
        <select
          name="bot"
          disabled={isBusy}
          value={wanted.agentId}
          onChange={({ currentTarget: { value: agentId } }) => onWanted({ ...wanted, agentId })}
        >
          {choices?.bots.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Transport
        <select
          name="transport"
          disabled={isBusy}
          value={wanted.transport}
          onChange={({ currentTarget: { value } }) => onWanted({ ...wanted, transport: value === 'websocket' ? value : 'grpc' })}
        >
          <option value="grpc">gRPC</option>
          <option value="websocket">WebSocket</option>
        </select>
      </label>
      <label>
        Line
        <select
          name="line"
          disabled={isBusy}
          value={wanted.line}
          onChange={({ currentTarget: { value } }) => onWanted({ ...wanted, line: choices?.lines.find((one) => one === value) ?? 'good' })}
        >
          {choices?.lines.map((one) => (
            <option key={one} value={one}>
              {LINES[one]}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={wanted.usesMicrophone}
          disabled={isBusy}
          onChange={({ currentTarget: { checked: usesMicrophone } }) => onWanted({ ...wanted, usesMicrophone })}
        />
        Microphone
      </label>
      <div class="buttons">
        {line === undefined ? (
          <button type="button" class="main" disabled={wanted.agentId === ''} onClick={() => onCall()}>
            Call
          </button>
        ) : (
          <button type="button" class="hang-up" onClick={() => line.hangUp()}>
            Hang up
          </button>
        )}
        <button
          type="button"
          disabled={isBusy || lastCall === undefined}
          title="The caller of the last call calls the bot as it is now: the same sound and keys, at the same times after each reply"
          onClick={() => onCall(lastCall)}
        >
          Same caller again
        </button>
      </div>
    </div>
  );
}
