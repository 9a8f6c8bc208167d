import '../local/check-node.mjs'

/** Entry point of `npm run agents`: JavaScript, so that a Node.js without TypeScript can say what it needs. */
await import('./main.ts')
