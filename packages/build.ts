/**
 * `npm run build`: writes what `agent-execution-service` publishes into `dist`, with the folders of the sources.
 * Node.js refuses TypeScript in `node_modules`. `npm pack` calls it.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildConsole, stopBuilder } from '../lib/console-server/build-console.ts'
import { bundleDependency } from './bundle-dependency.ts'
import { compile, prepare, ROOT } from './compile.ts'

const DIST = join(ROOT, 'dist')

prepare(DIST)
compile('packages', DIST)
// The compiler has copied it, because the command line prints the version.
const { name, version, type } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify({ name, version, type })}\n`)
// CDK apps in CommonJS.
writeFileSync(join(DIST, 'infra/index.cjs'), "module.exports = require('./index.js')\n")
writeFileSync(join(DIST, 'infra/index.d.cts'), "export * from './index.js'\n")
mkdirSync(join(DIST, 'packages'))
cpSync(join(ROOT, 'packages/cdk-app.mjs'), join(DIST, 'packages/cdk-app.mjs'))
// The console is built here, so that its packages are not installed.
const server = join(DIST, 'lib/console-server')
for (const name of readdirSync(server)) if (/^(docs|merge|render)-/.test(name)) rmSync(join(server, name))
cpSync(join(ROOT, 'packages/built-console.mjs'), join(server, 'build-console.js'))
// The emulator of SQS brings servers of S3 and SNS (24 MB), the serializer of traces all conventions (10 MB).
await bundleDependency('fauxqs', join(DIST, 'local/emulators/start-emulators.js'))
for (const name of ['core', 'otlp-transformer'])
  await bundleDependency(`@opentelemetry/${name}`, join(DIST, 'lib/engine/traces/send-trace.js'))
await buildConsole(join(DIST, 'console'), { quality: 11 })
await stopBuilder()
