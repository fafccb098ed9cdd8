// What an assistant says without asking its model, in the languages that Parley ships.
import { primarySubtag } from '../dialog/languages.ts';

/** Phrases of an assistant. Replace them with {@link AssistantOptions.phrases}. */
export interface Phrases {
  /** The model failed. */
  readonly lost: string;
  /** The recognizer failed, or there is none. */
  readonly notHeard: string;
  /** The caller made a sound without words. */
  readonly notUnderstood: string;
  /** The caller has said nothing for a while. */
  readonly stillThere: string;
  /** The call ends because nobody is there. */
  readonly goodbye: string;
  /** The assistant gives up, and the caller is transferred. */
  readonly givingUp: string;
  /** The caller is transferred because the model wants it. */
  readonly transferring: string;
  /** The caller pressed keys where `keys` is `off`. */
  readonly noKeys: string;
}

const EN: Phrases = {
  lost: 'Sorry, I lost my thread. Could you say that again?',
  notHeard: 'Sorry, I could not hear you. Please say it again.',
  notUnderstood: 'Sorry, I did not catch that.',
  stillThere: 'Are you still there?',
  goodbye: 'I hear nothing, so I will hang up. Goodbye.',
  givingUp: 'I will connect you to a colleague.',
  transferring: 'I will connect you.',
  noKeys: 'Please just tell me.',
};

const BY_LANGUAGE: Readonly<Record<string, Phrases>> = {
  es: {
    lost: 'Perdone, he perdido el hilo. ¿Puede repetirlo?',
    notHeard: 'Perdone, no le he oído. Repítalo, por favor.',
    notUnderstood: 'Perdone, no le he entendido.',
    stillThere: '¿Sigue ahí?',
    goodbye: 'No oigo nada, así que voy a colgar. Adiós.',
    givingUp: 'Le paso con un compañero.',
    transferring: 'Le paso.',
    noKeys: 'Dígamelo, por favor.',
  },
  de: {
    lost: 'Entschuldigung, ich habe den Faden verloren. Sagen Sie das bitte noch einmal.',
    notHeard: 'Entschuldigung, ich konnte Sie nicht hören. Sagen Sie es bitte noch einmal.',
    notUnderstood: 'Entschuldigung, das habe ich nicht verstanden.',
    stillThere: 'Sind Sie noch da?',
    goodbye: 'Ich höre nichts und lege jetzt auf. Auf Wiederhören.',
    givingUp: 'Ich verbinde Sie mit einem Kollegen.',
    transferring: 'Ich verbinde Sie.',
    noKeys: 'Sagen Sie es mir bitte einfach.',
  },
  fr: {
    lost: "Excusez-moi, j'ai perdu le fil. Pouvez-vous répéter ?",
    notHeard: "Excusez-moi, je ne vous ai pas entendu. Répétez, s'il vous plaît.",
    notUnderstood: "Excusez-moi, je n'ai pas compris.",
    stillThere: 'Vous êtes toujours là ?',
    goodbye: "Je n'entends rien, je vais donc raccrocher. Au revoir.",
    givingUp: 'Je vous passe un collègue.',
    transferring: 'Je vous transfère.',
    noKeys: "Dites-le-moi simplement, s'il vous plaît.",
  },
};

/** The phrases of a language; English when Parley does not ship it. */
export function phrasesIn(language: string | undefined): Phrases {
  return BY_LANGUAGE[primarySubtag(language ?? 'en')] ?? EN;
}
