/**
 * To be imported first by an entry point. Node.js before 22.18 cannot load TypeScript; it reports the extension as
 * unknown.
 */
if (!process.features.typescript) {
  const command = process.argv[1]?.includes('start') ? 'npm start' : 'npm run agents -- <command>'
  console.error(
    `This is Node.js ${process.versions.node}, which cannot run TypeScript. Run "npm ci" and then "${command}", which uses the Node.js 24 that npm installs, or use Node.js 24.`,
  )
  process.exit(1)
}
