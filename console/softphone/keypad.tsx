// The keys of a phone, and those of the keyboard in their place.
import { useEffect } from 'preact/hooks';
import type { PhoneKey } from '../../src/fake-platform/softphone/softphone-api.ts';
import type { PhoneLine } from './phone-line.ts';

const KEYS: readonly PhoneKey[] = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];

export function Keypad({ line }: { readonly line: PhoneLine | undefined }) {
  useEffect(() => {
    const pressed = ({ key, target, repeat, ctrlKey, metaKey, altKey }: KeyboardEvent): void => {
      const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
      // Some keyboards have # behind such a key.
      const isShortcut = metaKey || ((ctrlKey || altKey) && key !== '#');
      const found = isTyping || isShortcut || repeat ? undefined : KEYS.find((one) => one === key);
      if (found !== undefined) line?.press(found);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [line]);
  return (
    <div class="keypad" role="group" aria-label="Keypad">
      {KEYS.map((key) => (
        <button key={key} type="button" disabled={line === undefined} onClick={() => line?.press(key)}>
          {key}
        </button>
      ))}
    </div>
  );
}
