// Speaks Spanish with its caller, and one sentence of English.
import { bot, go, say } from 'parley-voice';

export default bot<null>({
  id: 'front-desk-es',
  name: 'Recepción',
  version: 1,
  language: 'es-MX',
  prompts: ['Su número, por favor.'],
  session_start: () => go(null, say('Su número, por favor.').say('For English, press star.', { language: 'en' }).listen({ digits: 4 })),
  dtmf_input: (_state, { digits }) =>
    digits === '*'
      ? go(null, say('One moment, please.', { language: 'en' }).transfer({ reason: 'English' }))
      : go(null, say(`Su número es ${[...digits].join(', ')}. Gracias.`).end()),
  otherwise: () => go(null, say('¿Cómo dice?').listen({ digits: 4 })),
});
