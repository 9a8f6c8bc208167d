import { existsSync } from 'node:fs'

/**
 * To be imported first by an entry point. Node.js before 22.18 cannot load the TypeScript of the repository: it reports
 * its extension as unknown. The package is JavaScript.
 */
const { node } = process.versions
const [major = 0, minor = 0] = node.split('.').map(Number)
const hasSources = existsSync(new URL('start.ts', import.meta.url))
if (hasSources && !process.features.typescript) {
  const command = process.argv[1]?.includes('start') ? 'npm start' : 'npx agent-execution <command>'
  console.error(
    `This is Node.js ${node}, which cannot run TypeScript. Run "npm ci" and then "${command}", which uses the Node.js 24 that npm installs, or use Node.js 24.`,
  )
  process.exit(1)
}
if (major < 22 || (major === 22 && minor < 14)) {
  console.error(`This is Node.js ${node}. The Agent Execution Service needs Node.js 22.14 or later.`)
  process.exit(1)
}
