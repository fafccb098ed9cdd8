#!/usr/bin/env node
// `npm create parley-voice my-bots`: what `parley init my-bots` does, with the version that was just downloaded.
process.argv.splice(2, 0, 'init');
await import(new URL('../cli/main.js', import.meta.resolve('parley-voice')).href);
