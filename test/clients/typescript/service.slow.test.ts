import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { packClient } from './pack-client.ts'
import { collect } from './scripted-service.ts'

describe('the service', () => {
  type Agents = {
    echo: { input: { text: string; count?: number }; output: { text: string } }
    wait: { input: { seconds: number }; output: { waitedSeconds: number } }
    failing: { input: { failure: string }; output: { result: string } }
    'three-steps': { input: { log: string }; output: { values: number[] } }
  }

  let org: TestOrganization
  let client: Client<Agents>
  beforeAll(async () => {
    org = await newOrganization()
    for (const slug of ['echo', 'wait', 'failing', 'three-steps']) await org.publish(slug)
    client = new Client<Agents>({ baseUrl: `${inject('service')}/v1/`, token: org.token })
  })

  describe('Client', () => {
    it('runs, starts and waits', async () => {
      expect(await client.run('echo', { text: 'x' })).toEqual({ text: 'x' })
      const started = await client.start('wait', { seconds: 0 })
      expect(started).toMatchObject({ status: 'IN_PROGRESS', output: null })
      const ended = await client.wait(started)
      expect(ended.output.waitedSeconds).toBeGreaterThanOrEqual(0)
      expect(ended).toEqual(await client.get(started.id))
    })

    it('rejects with why an execution failed', async () => {
      const expected = { code: 'ExecutionFailed', error: { code: 'AgentFailed' } }
      await expect(client.run('failing', { failure: 'throw' })).rejects.toMatchObject(expected)
      const { id } = await client.start('failing', { failure: 'throw' })
      await expect(client.wait(id)).rejects.toMatchObject({ ...expected, executionId: id })
    })

    it('streams a run', async () => {
      const all = await collect(client.stream('three-steps', { log: '/dev/null' }))
      expect(all.map(({ event }) => event).filter((event) => event === 'step')).toHaveLength(3)
      const last = all.at(-1)
      expect(last?.event === 'done' && last.data.output?.values).toEqual([1, 2, 3])
      const again = await collect(client.events(last?.event === 'done' ? last.data : '', { after: 2 }))
      expect(again.map(({ event }) => event)).toEqual(['status', 'step', 'done'])
    })

    it('publishes, promotes, archives and restores', async () => {
      const by = await newOrganization()
      const other = new Client({ baseUrl: inject('service'), token: by.token })
      const document = (title: string) => `---
title: ${title}
slug: greet
description: Greets by name.
input: { name: { type: string } }
output: { said: { type: string } }
model: openai/gpt-5-mini
---
Greet.
`
      const first = await other.publish({ document: document('One'), message: 'first' })
      const draft = await other.publish({ document: document('Two'), draft: true })
      expect(await other.publish({ document: document('Two'), draft: true })).toEqual(draft)
      expect(await other.version('greet', draft.id)).toMatchObject({
        status: 'DRAFT',
        instructions: 'Greet.',
      })
      expect(await other.promote('greet', draft.id)).toMatchObject({ currentVersionId: draft.id })
      expect(await other.retire('greet', first.id)).toMatchObject({ retiredAt: expect.any(String) })
      await expect(other.promote('greet', first.id)).rejects.toMatchObject({
        ...{ code: 'VersionRetired', status: 409 },
      })
      await expect(other.deleteVersion('greet', first.id)).rejects.toMatchObject({ code: 'VersionPublished' })
      await other.archive('greet')
      await expect(other.run('greet', { name: 'x' })).rejects.toMatchObject({
        code: 'AgentArchived',
        status: 410,
      })
      expect(await collect(other.agents())).toEqual([])
      expect(await collect(other.agents({ archived: true }))).toHaveLength(1)
      expect(await other.restore('greet')).toMatchObject({ archivedAt: null })
      const invalid = other.publish({ document: 'no front matter', slug: 'x' })
      await expect(invalid).rejects.toMatchObject({ code: 'InvalidAgent', errors: [{ path: '/document' }] })
    })
  })

  /** The compiler does not know it yet. */
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

  describe('numbers that a double cannot hold', () => {
    it('are those of JavaScript by default, and exact with the functions of the caller', async () => {
      const digits = '12345678901234567890'
      const input = { text: 'x', count: Number(digits) }
      const rounded = await client.wait(await client.start('echo', input))
      expect(rounded.input.count).toBe(12345678901234567000)
      const exact = new Client<Agents>({
        baseUrl: inject('service'),
        token: org.token,
        // As docs/clients.md recommends.
        parse: (text) =>
          JSON.parse(text, (_, value, context?: { source?: string }) =>
            Number.isInteger(value) && !Number.isSafeInteger(value)
              ? BigInt(context?.source ?? value)
              : value,
          ),
        stringify: (value) =>
          JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? rawJSON(String(part)) : part)),
      })
      const started = await exact.start('echo', { text: 'x', count: BigInt(digits) as never })
      expect((await exact.wait(started)).input.count).toBe(BigInt(digits))
      expect((await org.call('GET', `/v1/agent_executions/${started.id}`)).text).toContain(
        `"count":${digits}`,
      )
    })
  })

  describe('options', () => {
    it.each(['', 'agents.example.com', 'ftp://x', 'https://x/?a=1'])(
      'reject the base URL "%s"',
      (baseUrl) => {
        expect(() => new Client({ baseUrl, token: 'x' })).toThrow(/^baseUrl must be a URL/)
      },
    )

    it.each([
      [{ token: '' }, 'token must be an API token.'],
      [{ maxRetries: -1 }, 'maxRetries must be a number from 0, not -1.'],
      [{ timeoutMs: 0 }, 'timeoutMs must be a number above 0, not 0.'],
      [{ timeoutMs: Number.NaN }, 'timeoutMs must be a number above 0, not NaN.'],
    ])('reject %o', async (options, message) => {
      const use = async () => new Client({ baseUrl: 'http://127.0.0.1:9', token: 'x', ...options }).me()
      await expect(use()).rejects.toThrow(message)
    })
  })
})

describe('the package', () => {
  const MAX_GZIP_BYTES = 8_000

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
      const isExpected = (path: string) => /^dist\/([a-z]+\/)?[a-z-]+\.(js|d\.ts)$/.test(path)
      expect(client.files.filter((path) => !isExpected(path)).sort()).toEqual([
        'LICENSE',
        'README.md',
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

    it.each([
      ['nodenext', 'es2022'],
      ['bundler', 'es2022,dom'],
    ])('has types for the module resolution "%s" with the library %s', async (moduleResolution, lib) => {
      const types = lib.includes('dom') ? [] : ['node']
      writeFileSync(join(client.folder, 'consumer.ts'), CONSUMER)
      const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution
      const compilerOptions = {
        ...{ strict: true, noEmit: true, exactOptionalPropertyTypes: true, target: 'es2022' },
        ...{ module, moduleResolution, lib: lib.split(','), types },
        typeRoots: TYPE_ROOTS,
      }
      expect(await typeErrors({ compilerOptions, files: ['consumer.ts'] })).toBe('')
    })

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
})
