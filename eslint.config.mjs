// Lint rules: typescript-eslint at its strictest with types, so that forgotten awaits and async handlers nobody waits for
// are errors. What belongs to layout is prettier's, which room may import which is layers.json's.
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const ENVIRONMENT = 'only src/app/config reads the environment';
const CLOCK = 'take a Clock (src/base/clock.ts), so that tests need not wait';

/** What only src/app/config may do. */
const noEnvironment = [{ object: 'process', property: 'env', message: ENVIRONMENT }];
/** What only src/base/clock.ts may do. */
const noOwnTime = [
  { object: 'Date', property: 'now', message: CLOCK },
  { object: 'performance', property: 'now', message: CLOCK },
  { object: 'process', property: 'hrtime', message: CLOCK },
];

export default defineConfig(
  globalIgnores(['dist/', 'node_modules/', 'coverage/', 'demo-output/', 'cache/', 'src/contract/gen/']),
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400 }],
      'no-console': 'error',
      'no-param-reassign': 'error',
      'no-self-compare': 'error',
      'no-unreachable-loop': 'error',
      'no-restricted-syntax': ['error', { selector: 'TSEnumDeclaration', message: 'a union of strings, or a const object' }],

      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'all' }],
      // Digits and codes are ASCII: `[...code]` is how this code takes them apart.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      '@typescript-eslint/require-await': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['src/**', 'bots/**'],
    rules: {
      'no-restricted-properties': ['error', ...noEnvironment, ...noOwnTime],
      'no-restricted-globals': ['error', ...['setTimeout', 'setInterval'].map((name) => ({ name, message: CLOCK }))],
      'no-restricted-imports': [
        'error',
        ...['process', 'node:process'].map((name) => ({ name, importNames: ['env'], message: ENVIRONMENT })),
        ...['timers', 'node:timers', 'timers/promises', 'node:timers/promises'].map((name) => ({ name, message: CLOCK })),
      ],
    },
  },
  { files: ['src/app/config/**'], rules: { 'no-restricted-properties': ['error', ...noOwnTime] } },
  { files: ['src/base/clock.ts'], rules: { 'no-restricted-properties': ['error', ...noEnvironment], 'no-restricted-globals': 'off' } },
  { files: ['src/cli/**', 'src/base/terminal/**', 'scripts/**'], rules: { 'no-console': 'off' } },
  {
    // Plain JavaScript states its types in comments; asking for more would make the scripts unreadable.
    files: ['**/*.mjs'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
