// Asks for a token. The browser gets a session, and the page keeps nothing.
import { useState } from 'preact/hooks';
import { Refused, signIn } from './server-api.ts';

export function SignInForm({ onDone }: { readonly onDone: () => void }) {
  const [token, setToken] = useState('');
  const [refused, setRefused] = useState('');
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await signIn(token);
      onDone();
    } catch (thrown) {
      const isUnknown = thrown instanceof Refused && thrown.status === 401;
      setRefused(isUnknown ? 'This is no token of this server.' : (thrown as Error).message);
    }
  };
  return (
    <main class="sign-in">
      <h1>Parley</h1>
      <form onSubmit={(event) => void submit(event)}>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          required
          value={token}
          aria-describedby="token-help"
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit" class="main">
          Sign in
        </button>
        <p id="token-help" class="soft">
          The operator of this server has it: ops.console.view_token, or ops.console.listen_token to hear recordings.
        </p>
        <p class="bad" role="alert">
          {refused}
        </p>
      </form>
    </main>
  );
}
