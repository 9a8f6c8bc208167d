import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packClient } from './pack-client.ts'

const MAX_GZIP_BYTES = 8_500

const run = promisify(execFile)
let client: Awaited<ReturnType<typeof packClient>>
beforeAll(async () => {
  client = await packClient()
})
afterAll(() => client.remove())

const CONSUMER = `
import { AgentError, Client } from 'agent-execution-client'

type Agents = { echo: { input: { text: string }; output: { text: string } } }
const client = new Client<Agents>({ baseUrl: 'http://127.0.0.1:3000', token: 'x' })
export const echo = async (): Promise<string> => (await client.run('echo', { text: 'x' })).text
// @ts-expect-error: no such agent
export const other = () => client.run('other', { text: 'x' })
export const reasonOf = (error: unknown) =>
  error instanceof AgentError && error.code === 'ExecutionFailed' ? error.error.code : ''
`

const DOCUMENTS = ['README.md', 'docs/clients.md', 'docs/webhooks.md', 'clients/typescript/README.md']

/** What the examples of the documentation take as given. */
const GIVEN = `
import type { Agents as All } from './agents.ts'
declare const token: string, baseUrl: string, content: string, subject: string, body: string, file: File
declare const request: Request
`
const CLIENT = `
import { AgentError, Client } from 'agent-execution-client'
declare const client: Client<All>
`

/** The programs in TypeScript that use the client. */
const examplesIn = (document: string): string[] =>
  [...readFileSync(document, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)]
    .map(([, code = '']) => code)
    .filter((code) => code.includes('agent-execution-client') || code.includes('client.'))
    .map((code) => `${GIVEN}${code.includes("'agent-execution-client'") ? '' : CLIENT}${code}`)

const TYPE_ROOTS = [join(process.cwd(), 'node_modules/@types')]

/** What the compiler prints about files in the folder of the client. */
async function typeErrors(config: { compilerOptions: object; files: string[] }): Promise<string> {
  writeFileSync(join(client.folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url))
  const { stdout } = await run(process.execPath, [compiler, '-p', client.folder]).catch((error) => error)
  return stdout
}

describe('the package', () => {
  it('contains its code, its types and nothing else', () => {
    const isExpected = (path: string) => /^dist\/(cjs\/)?([a-z]+\/)?[a-z-]+\.(js|d\.ts)$/.test(path)
    expect(client.files.filter((path) => !isExpected(path)).sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist/cjs/package.json',
      'package.json',
    ])
    expect(client.files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts']))
    const { dependencies, private: isPrivate } = JSON.parse(
      readFileSync(join(client.installed, 'package.json'), 'utf8'),
    )
    expect([dependencies, isPrivate]).toEqual([undefined, undefined])
  })

  it(`has at most ${MAX_GZIP_BYTES} bytes, minified and compressed`, async () => {
    const { outputFiles } = await build({
      entryPoints: [join(client.installed, 'dist/index.js')],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      write: false,
    })
    const { length } = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 })
    expect(length).toBeGreaterThan(1_000)
    expect(length).toBeLessThanOrEqual(MAX_GZIP_BYTES)
  })

  it('has the same exports for require', async () => {
    const list = 'Object.keys(client).filter((name) => name !== "__esModule").sort().join()'
    const evaluate = (...args: string[]) => run(process.execPath, args, { cwd: client.folder })
    const [required, imported] = await Promise.all([
      evaluate('--print', `const client = require('agent-execution-client'); ${list}`),
      evaluate(
        '--input-type=module',
        '-e',
        `import * as client from 'agent-execution-client'; console.log(${list})`,
      ),
    ])
    expect(required.stdout).toBe(imported.stdout)
    expect(required.stdout).toContain('AgentError,Client')
  })

  it.each([
    ['nodenext', 'es2022', 'consumer.ts'],
    ['nodenext', 'es2022', 'consumer.cts'],
    ['bundler', 'es2022,dom', 'consumer.ts'],
  ])(
    'has types for the module resolution "%s" with the library %s: %s',
    async (moduleResolution, lib, file) => {
      const types = lib.includes('dom') ? [] : ['node']
      writeFileSync(join(client.folder, file), CONSUMER)
      const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution
      const compilerOptions = {
        ...{ strict: true, noEmit: true, exactOptionalPropertyTypes: true, target: 'es2022' },
        ...{ module, moduleResolution, lib: lib.split(','), types },
        typeRoots: TYPE_ROOTS,
      }
      expect(await typeErrors({ compilerOptions, files: [file] })).toBe('')
    },
  )

  it('is used as in the documentation', async () => {
    cpSync('examples/typescript/agents.ts', join(client.folder, 'agents.ts'))
    const files = DOCUMENTS.flatMap((document) => {
      const examples = examplesIn(document)
      expect(examples, document).not.toEqual([])
      return examples.map((example, index) => {
        const file = `${document.replaceAll(/\W/g, '-')}-${index}.ts`
        writeFileSync(join(client.folder, file), example.replace(/^const client =/m, 'export $&'))
        return file
      })
    })
    const compilerOptions = {
      ...{ strict: true, noEmit: true, target: 'es2022', module: 'nodenext', types: ['node'] },
      ...{ allowImportingTsExtensions: true, typeRoots: TYPE_ROOTS },
    }
    expect(await typeErrors({ compilerOptions, files })).toBe('')
  })
})
