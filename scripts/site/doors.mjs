// Who reads which page, in which order. Every page stands behind exactly one door; test/rules/site.test.ts says when one is missing.

/** @typedef {{ name: string, for: string, pages: readonly string[] }} Door */

/** The first page of the site. */
export const HOME = 'README.md';

/** @type {readonly Door[]} */
export const DOORS = [
  {
    name: 'I write bots',
    for: 'From an empty folder to a bot that is tested and called, without a phone.',
    pages: [
      'docs/bot-api.md',
      'docs/dev.md',
      'docs/first-assistant.md',
      'docs/assistants.md',
      'docs/speech-to-speech.md',
      'docs/evaluating.md',
      'docs/voice.md',
      'docs/speech.md',
      'docs/scenarios.md',
      'docs/replay.md',
      'docs/fake-platform.md',
      'docs/library.md',
    ],
  },
  {
    name: 'I run servers',
    for: 'Configure, deploy and watch servers, and find out why no calls come in.',
    pages: [
      ...[
        'docs/config.md',
        'docs/operations.md',
        'docs/control.md',
        'docs/console.md',
        'docs/connections.md',
        'docs/deploy.md',
        'docs/shared-calls.md',
        'docs/organizations.md',
        'docs/upgrade.md',
      ],
      ...[
        'docs/admin.md',
        'docs/admin-store.md',
        'docs/doctor.md',
        'docs/errors.md',
        'docs/metrics.md',
        'docs/traces.md',
        'docs/runbooks.md',
        'docs/faults.md',
      ],
      ...['docs/recordings.md', 'docs/load.md', 'docs/capacity.md', 'SECURITY.md', 'CHANGELOG.md'],
    ],
  },
  {
    name: 'I change Parley',
    for: 'How the code is laid out and why, the rules of the wire, and what is measured.',
    pages: [
      ...[
        'CONTRIBUTING.md',
        'docs/architecture.md',
        'docs/generated/protocol.md',
        'docs/conformance.md',
        'docs/generated/conformance-rules.md',
      ],
      ...[
        'docs/performance.md',
        'docs/mutants.md',
        'docs/decisions/001-proto-loader-and-ready-bytes.md',
        'docs/decisions/002-token-policy.md',
      ],
      ...['docs/decisions/003-voice-detection.md', 'docs/decisions/004-prompt-audio.md', 'docs/decisions/005-turn-engine.md'],
      ...['docs/decisions/006-bots-that-change.md', 'docs/decisions/007-forwarded-turns.md', 'docs/decisions/008-workers.md'],
      'docs/decisions/009-a-call-has-a-home.md',
      'docs/decisions/010-models-without-a-framework.md',
      'docs/decisions/011-whole-utterances-to-speech-models.md',
      'docs/decisions/012-words-before-a-pause.md',
      'docs/decisions/013-pages-without-a-framework.md',
    ],
  },
];

/** All pages, the first one included. */
export const PAGES = [HOME, ...DOORS.flatMap(({ pages }) => pages)];
