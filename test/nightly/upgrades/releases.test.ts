import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '../../../lib/access/tokens.ts'
import type { OperationName } from '../../../lib/contract/routes.ts'
import { tokenStore } from '../../../lib/dynamodb/access-stores.ts'
import { system } from '../../../lib/system.ts'
import { provisionStack } from '../../infra/bundling/deploy-release.ts'
import type { Call } from '../../infra/bundling/invoke-deployed.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { startServer } from '../../support/service/start-server.ts'
import { AGENTS, textOf } from './agents.ts'
import { type BuiltRelease, buildPresent, buildRelease, previousCommit } from './build-release.ts'
import { abbreviate, type OpenRelease, openRelease } from './open-release.ts'

const commit = await previousCommit()

type Name = 'the previous commit' | 'the working tree'
type Stack = Awaited<ReturnType<typeof provisionStack>>

/** During a canary, and after a release was undone, two releases work on one table and one queue. */
describe.runIf(commit)('two releases on one stack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aes-releases-'))
  let scripted: Awaited<ReturnType<typeof startScriptedModel>>
  let built: Record<Name, BuiltRelease>
  let toolCalls = 0
  let tool: Awaited<ReturnType<typeof startServer>>

  beforeAll(async () => {
    tool = await startServer((_, response) => {
      toolCalls++
      response.setHeader('content-type', 'application/json')
      response.end('{"price":12}')
    })
    scripted = await startScriptedModel()
    built = {
      'the previous commit': await buildRelease(commit ?? ''),
      'the working tree': await buildPresent(folder),
    }
  }, 600_000)
  afterAll(async () => {
    await tool?.stop()
    await scripted?.stop()
    rmSync(folder, { recursive: true })
  })

  describe.each<[Name, Name]>([
    ['the previous commit', 'the working tree'],
    ['the working tree', 'the previous commit'],
  ])('%s writes, %s continues:', (firstName, secondName) => {
    const organizationId = system.newId()
    const openAs = (name: Name) =>
      openRelease(built[name], stack.deploy(built[name]), {
        organizationId,
        environment: {
          ...scripted.environmentFor('openai-compatible'),
          LEASE_SECONDS: '1',
          RETRY_BACKOFF_MS: '100',
          // The tool is on this machine.
          WEBHOOK_HOSTS: '127.0.0.1',
        },
      })
    let stack: Stack
    let first: OpenRelease
    let second: OpenRelease

    beforeAll(async () => {
      stack = await provisionStack()
      first = openAs(firstName)
      second = openAs(secondName)
      const model = scripted.modelFor('openai-compatible', firstName.replaceAll(' ', '-'))
      for (const body of AGENTS({ model, toolHost: tool.host })) await first.read('publish-agent', { body })
    })
    afterAll(async () => {
      first?.stop()
      second?.stop()
      await stack?.stop()
    })

    const run = (release: OpenRelease, agentId: string, body: object, more: object = {}) =>
      release.call('run-agent', { agentId, body, ...more })
    const idOf = ({ headers }: { headers: Record<string, string> }) => headers['X-Execution-Id'] ?? ''
    const accept = async (release: OpenRelease, agentId: string, body: object): Promise<string> =>
      (await release.read('run-agent', { agentId, body, query: { execMode: 'async' } })).id

    /** Both read the same; the working tree may have more fields. Returns what the previous commit reads. */
    async function readByBoth(operation: OperationName, call: Call = {}) {
      const [previous, present] = firstName === 'the previous commit' ? [first, second] : [second, first]
      const read = await previous.read(operation, call)
      expect(await present.read(operation, call)).toMatchObject(read)
      return read
    }

    /** Sweeps and runs messages until an execution has ended. */
    const completeBy = async (release: OpenRelease, executionId: string) =>
      expect
        .poll(async () => {
          await release.invoke('sweep-executions', { source: 'aws.events' })
          await release.runNext().catch(() => undefined)
          return (await first.read('get-execution', { executionId })).status
        })
        .toBe('SUCCESS')

    it('agents, which run', async () => {
      expect(await readByBoth('list-agents')).toHaveLength(3)
      const { body } = await run(second, 'count', { text: 'a b c' })
      expect(JSON.parse(body)).toEqual({ words: 3, text: 'a b c' })
    })

    it.each([100, 4_000, 15_000, 30_000, 1_000_000])(
      'a run with %d bytes, its steps and its lists',
      async (bytes) => {
        const text = textOf(bytes)
        const executionId = idOf(await run(first, 'count', { text }))
        const record = await readByBoth('get-execution', { executionId })
        const short = { text: abbreviate(text) }
        expect(record).toMatchObject({ status: 'SUCCESS', input: short, output: short })
        expect(await readByBoth('list-steps', { executionId })).toHaveLength(2)
        const query = { limit: '1' }
        expect(await readByBoth('list-executions', { query })).toEqual([record])
        expect(await readByBoth('list-agent-executions', { agentId: 'count', query })).toEqual([record])
        const { body } = await second.call('stream-events', { executionId })
        expect(body).toContain('event: done')
      },
    )

    it.each([100, 30_000])('feedback of %d bytes, and a deletion', async (bytes) => {
      const text = textOf(bytes)
      const executionId = idOf(await run(first, 'count', { text }))
      const feedback = { rating: 1, note: 'Good.', correctedOutput: { words: 1, text } }
      await first.read('give-feedback', { executionId, body: feedback })
      await readByBoth('get-execution', { executionId })
      const other = { rating: -1, correctedOutput: { words: 2, text } }
      await second.read('give-feedback', { executionId, body: other })
      const { feedback: read } = await first.read('get-execution', { executionId })
      expect(read).toMatchObject({ rating: -1, correctedOutput: { words: 2 } })
      expect((await second.call('delete-execution', { executionId })).statusCode).toBe(204)
      expect((await first.call('get-execution', { executionId })).statusCode).toBe(404)
    })

    it.each([100, 4_000, 30_000])('a cached result of %d bytes', async (bytes) => {
      const input = { text: textOf(bytes) }
      const query = { useCache: 'true' }
      const { body } = await run(first, 'count', input, { query })
      const hit = await run(second, 'count', input, { query })
      expect(hit.headers['Cache-Status']).toMatch(/hit/)
      expect(hit.body === body).toBe(true)
    })

    it('an idempotency key', async () => {
      const headers = { 'Idempotency-Key': `key ${firstName}` }
      const execution = idOf(await run(first, 'count', { text: 'once' }, { headers }))
      expect(idOf(await run(second, 'count', { text: 'once' }, { headers }))).toBe(execution)
      expect((await run(second, 'count', { text: 'twice' }, { headers })).statusCode).toBe(422)
    })

    it.each([100, 4_000, 30_000])('an accepted run of %d bytes, which it executes', async (bytes) => {
      const text = textOf(bytes)
      const executionId = await accept(first, 'count', { text })
      await second.runNext()
      expect(await first.read('get-execution', { executionId })).toMatchObject({
        status: 'SUCCESS',
        output: { text: abbreviate(text) },
      })
    })

    it('a run whose worker dies in its second step, which it finds and resumes there', async () => {
      const [log, hold] = [join(folder, `log ${firstName}`), join(folder, `hold ${firstName}`)]
      writeFileSync(hold, '')
      const padding = textOf(4_000)
      const executionId = await accept(first, 'journal', { log, hold, padding })
      const worker = openAs(firstName)
      const died = worker.runNext().catch(() => 'died')
      await expect.poll(() => existsSync(log) && readFileSync(log, 'utf8')).toBe('12')
      worker.stop()
      expect(await died).toBe('died')
      rmSync(hold)
      await completeBy(second, executionId)
      expect(readFileSync(log, 'utf8')).toBe('1223')
      const { output } = await first.read('get-execution', { executionId })
      expect(output).toEqual({ total: 6, padding: abbreviate(padding) })
      expect(await second.read('list-steps', { executionId })).toHaveLength(3)
    })

    it('a model run that waits for its model, which it resumes without repeating a tool call', async () => {
      const question = textOf(4_000)
      const model = firstName.replaceAll(' ', '-')
      toolCalls = 0
      let isDown = true
      scripted.script(model, (_, index) => {
        if (index === 0) return { calls: [{ id: 'call-1', name: 'get_price', input: {} }] }
        return isDown ? { status: 503 } : { calls: [finalAnswer({ answer: question })] }
      })
      const executionId = await accept(first, 'ask', { question })
      await first.runNext()
      expect(await first.read('get-execution', { executionId })).toMatchObject({ status: 'IN_PROGRESS' })
      isDown = false
      await completeBy(second, executionId)
      expect(toolCalls).toBe(1)
      const record = await first.read('get-execution', { executionId })
      expect(record).toMatchObject({ output: { answer: abbreviate(question) }, steps: 2 })
      await readByBoth('list-steps', { executionId })
    })

    it('a token, which it accepts', async () => {
      const identity = { name: 'test', createdBy: organizationId, lifetimeMs: null }
      const { token, text } = newToken({ system, organizationId, ...identity })
      await tokenStore(stack.table).create({ token })
      const event = {
        type: 'TOKEN',
        authorizationToken: `Bearer ${text}`,
        methodArn: 'arn:api/live/GET/v1/agents',
      }
      for (const release of [first, second])
        expect(await release.invoke('authorize-request', event)).toMatchObject({
          payload: { context: { organizationId } },
        })
    })
  })
})
