import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { agentIdOf } from '../../lib/core/ids.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { parseJson, parseStoredJson } from '../../lib/core/json/parse-json.ts'
import { executionKey } from '../../lib/dynamodb/table/keys.ts'
import { buildRunRequest } from '../../lib/engine/submit/run-request.ts'
import { submitSync } from '../../lib/engine/submit/submit.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
import { system } from '../../lib/system.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { EMULATORS } from '../support/tables/emulators.ts'
import { readBaseline } from './baseline-files.ts'
import { answer, MODEL } from './create-data.ts'
import { createTable } from './create-table.ts'
import { openEngine } from './open-engine.ts'
import { readData } from './read-data.ts'

const { items, manifest, records } = readBaseline()
const { organizationId, exportedAt, executions, request } = manifest

/** After the leases of dead workers, before the deadlines of executions and keys. The test needs no other clock. */
const now = exportedAt + 3_600_000

const scripted = await startScriptedModel()
afterAll(scripted.stop)

/** The keys of each kind of item (lib/dynamodb/README.md). */
const KINDS = [
  /^ORG#\S+ ORG$/,
  /^TOKEN#\S+ TOKEN$/,
  /^TOKEN-ID#\S+ TOKEN-ID$/,
  /^AGENT#\S+ AGENT$/,
  /^AGENT#\S+ VERSION#/,
  /^AGENT#\S+ CODE#/,
  /^EXEC#\S+ RECORD$/,
  /^EXEC#\S+ STEP#\d+$/,
  /^EXEC#\S+ STEP#\d+#CALL#/,
  /^EXEC#\S+ PAYLOAD#/,
  /^EXEC#\S+ CLEANUP#/,
  /^EXEC#\S+ CHILD#/,
  /^CACHE#\S+ CACHE$/,
  /^IDEMPOTENCY#\S+ IDEMPOTENCY$/,
]

describe('the export', () => {
  it('names the commit that wrote it', () => {
    expect(manifest.commit).toMatch(/^[0-9a-f]{40}$/)
  })

  it('has items of every kind, and no others', () => {
    const keys = items.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`)
    expect(KINDS.filter((kind) => !keys.some((key) => kind.test(key)))).toEqual([])
    expect(keys.filter((key) => !KINDS.some((kind) => kind.test(key)))).toEqual([])
  })

  it('has a tombstone, the end of a journal, and a cached output that is stored in its execution', () => {
    const find = (is: (item: (typeof items)[number]) => boolean) => items.filter(is).length
    expect(find(({ deleted }) => deleted?.BOOL === true)).toBe(1)
    expect(find(({ sk, content }) => /^STEP#\d+$/.test(sk?.S ?? '') && !content)).toBe(1)
    expect(find(({ isInRecord }) => isInRecord?.BOOL === true)).toBe(1)
  })

  it('has executions in every state', () => {
    const statuses = Object.entries(records.executions as Record<string, JsonObject>).map(
      ([name, { status }]) => [name, status],
    )
    expect(Object.fromEntries(statuses)).toEqual({
      success: 'SUCCESS',
      cached: 'SUCCESS',
      largeCached: 'SUCCESS',
      large: 'SUCCESS',
      answered: 'SUCCESS',
      learned: 'SUCCESS',
      failed: 'ERROR',
      cancelled: 'ERROR',
      queued: 'IN_PROGRESS',
      claimed: 'IN_PROGRESS',
      released: 'IN_PROGRESS',
      deleted: null,
    })
  })
})

describe.each(EMULATORS)('the table of the baseline, on %s', (emulator) => {
  let table: Awaited<ReturnType<typeof createTable>>
  let engine: ReturnType<typeof openEngine>

  beforeAll(async () => {
    const endpoint = inject(emulator)
    table = await createTable(endpoint, items)
    engine = openEngine({ endpoint, tableName: table.name }, scripted, { ...system, now: () => now })
  })
  afterAll(() => table.delete())

  const idOf = (name: string) => ({ organizationId, id: String(executions[name]) })

  it('is read with the values that were recorded when it was exported', async () => {
    const data = parseStoredJson(JSON.stringify(await readData(engine, manifest)))
    expect(data).toMatchObject(records)
  })

  it.each([
    ['queued', { words: 3, text: 'a b c' }],
    // The recorded value of its first step is not what the step would return now.
    ['claimed', { words: 41, text: 'a b' }],
    ['released', { answer: 'Three.' }],
  ])('lets a worker complete the execution "%s"', async (name, output) => {
    scripted.script(MODEL, [answer])
    expect(await processMessage(engine, idOf(name).id)).toBe('processed')
    const execution = await engine.executions.get(idOf(name))
    expect(execution).toMatchObject({ status: 'SUCCESS', output })
    expect(await engine.steps.read({ executionId: idOf(name).id })).toHaveLength(2)
  })

  it('returns the recorded execution for its idempotency key, and its output from the cache', async () => {
    const agentId = agentIdOf(organizationId, request.slug)
    const { current } = (await engine.agents.get({ organizationId, id: agentId })) ?? {}
    if (!current) throw new Error('The agent has no published version.')
    const input = parseJson(request.json) as JsonObject
    const { idempotencyKey, overrides } = request
    const { execution: repeated } = await submitSync(
      engine,
      await buildRunRequest(current, input, overrides, idempotencyKey),
    )
    expect(repeated.id).toBe(executions.success)
    const { execution: cached } = await submitSync(engine, await buildRunRequest(current, input, overrides))
    expect(cached).toMatchObject({ cached: true, cachedExecutionId: executions.success })
    expect(cached.output).toEqual(repeated.output)
  })

  it('is cleaned up: a deletion is completed, and payloads that are in use stay', async () => {
    const large = await engine.executions.get(idOf('large'))
    for (const cleanup of await engine.executions.listCleanups({ now, limit: 100 }))
      await engine.executions.cleanUp({ cleanup, now })
    expect(await engine.executions.listCleanups({ now, limit: 100 })).toEqual([])
    const keys = (await table.scan()).map(({ pk }) => pk?.S)
    expect(keys.filter((pk) => pk === executionKey(idOf('deleted').id).pk)).toEqual([])
    expect(await engine.executions.get(idOf('large'))).toEqual(large)
  })
})
