/** Writes what `agent-execution-client` publishes: ES modules, and CommonJS in `cjs`. `npm pack` calls it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile, prepare, ROOT } from './compile.ts'

const DIST = join(ROOT, 'clients/typescript/dist')
const COMMON_JS = join(DIST, 'cjs')

prepare(DIST)
compile('clients/typescript', DIST)
const options = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false']
compile('clients/typescript', COMMON_JS, ...options)
writeFileSync(join(COMMON_JS, 'package.json'), '{ "type": "commonjs" }\n')
