import { afterAll, describe, expect, inject, it, vi } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Model } from '../../../lib/core/model.ts'
import type { ExecutionEvent } from '../../../lib/core/step.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { type Engine, newLease } from '../../../lib/engine/engine.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { meterCapacity } from '../../support/proxy/observe.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'

const meter = meterCapacity()
const proxy = await startProxy(inject('dynamodb'), meter.behavior)
afterAll(() => proxy.stop())

const ANSWER = JSON.stringify({ answer: 'Because it is so. '.repeat(20) })
const TOKEN_MS = 20
/** So slow that the rest of the answer takes longer than any reader here. */
const SLOW_MS = 250
const SLOW_FROM = 160
const WITHIN = { timeout: 30_000 }

/** Writes the answer. `paceAt`: milliseconds before the piece at this character; infinite if it stops for good. */
function aModel(paceAt: (at: number) => number = () => TOKEN_MS): Model {
  return {
    name: 'fake/model',
    answerModes: ['tool'],
    userMessage: (text) => text,
    toolMessage: () => null,
    async respond({ onPart, signal }) {
      const id = 'call'
      for (let at = 0, length = 0; at < ANSWER.length; at += length) {
        signal.throwIfAborted()
        const ms = paceAt(at)
        length = ms > TOKEN_MS ? 1 : 4
        await new Promise((resolve) => Number.isFinite(ms) && setTimeout(resolve, ms))
        onPart?.({ toolCall: { id, name: 'final_answer', arguments: ANSWER.slice(at, at + length) } })
      }
      const call = { id, name: 'final_answer', input: JSON.parse(ANSWER), error: null }
      const usage = { inputTokens: 1, outputTokens: 1 }
      return { messages: [], text: '', toolCalls: [call], usage, stopReason: 'tool-calls' }
    },
  }
}

/** Slow after its first part, as long as the condition holds. */
const slowWhile = (isSlow: () => boolean) => (at: number) =>
  at >= SLOW_FROM && isSlow() ? SLOW_MS : TOKEN_MS

/** A worker's engine, metered. Without a lease of its own, with one of 600 ms. */
const aWorker = (model = aModel(), leaseMs = 600): Engine => ({
  ...engineOn(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })),
  openModel: async () => model,
  times: leaseTimes(leaseMs),
})

/** As another process has it: it shares no memory with the workers. */
async function aGateway() {
  vi.resetModules()
  const { openEvents } = await import('../../../lib/engine/events/open-events.ts')
  const stores = engineOn(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: inject('dynamodb') }))
  return openEvents(stores)
}

async function aRun(engine: Engine) {
  const version = await aModelAgent({ model: 'openai/fake' }, { table: sharedTable() })
  const execution = { ...executionOf(version, { input: { question: '?' } }), attempts: 1 }
  const lease = newLease(engine)
  await engine.executions.create({ execution: { ...execution, lease } })
  return { execution, run: () => attempt(engine, leased({ ...execution, lease }, lease.owner)) }
}

type Followed = { id: string; organizationId: string }

function follow(gateway: Awaited<ReturnType<typeof aGateway>>, { id, organizationId }: Followed) {
  const events: ExecutionEvent[] = []
  const controller = new AbortController()
  const { signal } = controller
  const read = async () => {
    const key = { id, organizationId, status: 'IN_PROGRESS' as const, after: 0, maxMs: 60_000 }
    for await (const batch of gateway.read({ ...key, deltas: true, signal })) events.push(...batch)
  }
  return { events, stop: () => controller.abort(), ended: read() }
}

/** The arguments by try; those that a reset made void are gone. */
function textsOf(events: ExecutionEvent[]): Record<number, string> {
  const texts: Record<number, string> = {}
  for (const event of events) {
    if (event.kind === 'reset') delete texts[event.try]
    if (event.kind === 'delta' && 'toolCall' in event)
      texts[event.try] = (texts[event.try] ?? '') + event.toolCall.arguments
  }
  return texts
}

describe('a run that is followed from another process', () => {
  it('costs no more write units without readers, and one a second for 1 kB with them', async () => {
    const cost = async (watch: boolean) => {
      let isKept = !watch
      // One heartbeat, at 1 s.
      const worker = aWorker(aModel(slowWhile(() => !isKept)), 6_000)
      const { keepResponse } = worker.steps
      worker.steps.keepResponse = (params) => {
        isKept = true
        return keepResponse(params)
      }
      const { execution, run } = await aRun(worker)
      meter.take()
      const reader = watch ? follow(await aGateway(), execution) : null
      const startedAt = performance.now()
      await run()
      const { writeUnits, requests } = meter.take()
      await reader?.ended
      return { writeUnits, requests, seconds: (performance.now() - startedAt) / 1_000, reader }
    }
    const alone = await cost(false)
    // The renewal before the first step, the step, the end, and the heartbeats: as before there were deltas.
    const heartbeats = Math.floor(alone.seconds)
    expect(alone.requests.PutItem).toBe(1)
    expect(alone.requests.UpdateItem).toBeLessThanOrEqual(2 + heartbeats)
    const watched = await cost(true)
    expect(watched.requests.PutItem).toBeGreaterThan(1)
    expect((watched.requests.PutItem ?? 0) - 1).toBeLessThanOrEqual(Math.ceil(watched.seconds))
    expect(watched.writeUnits - alone.writeUnits).toBeLessThanOrEqual(Math.ceil(watched.seconds) + 1)
  })

  it('shows each reader a prefix of its step: late ones, and one that reloads three times', async () => {
    let isRead = false
    const { execution, run } = await aRun(aWorker(aModel(slowWhile(() => !isRead)), 3_000))
    const running = run()
    const gateway = await aGateway()
    for (let reload = 0; reload < 3; reload++) {
      const reader = follow(await aGateway(), execution)
      await vi.waitUntil(() => (textsOf(reader.events)[1]?.length ?? 0) > 20 * reload, WITHIN)
      expect(ANSWER.startsWith(textsOf(reader.events)[1] ?? '?')).toBe(true)
      reader.stop()
    }
    const late = follow(gateway, execution)
    isRead = true
    await running
    await late.ended
    expect(ANSWER.startsWith(textsOf(late.events)[1] ?? '?')).toBe(true)
    expect(late.events.at(-1)).toMatchObject({
      kind: 'done',
      execution: { status: 'SUCCESS', output: JSON.parse(ANSWER) },
    })
  })

  it('resets what a worker had written that was killed, and ends right', async () => {
    let isDead = false
    const pace = slowWhile(() => true)
    const model = aModel((at) => (isDead ? Number.POSITIVE_INFINITY : pace(at)))
    const dead = aWorker(model, 2_000)
    const { execution, run } = await aRun(dead)
    const store = dead.executions
    // The lease of a killed worker expires.
    dead.executions = {
      ...store,
      renew: (params) => (isDead ? new Promise(() => undefined) : store.renew(params)),
    }
    const { keepResponse } = dead.steps
    dead.steps.keepResponse = async (params) => (isDead ? undefined : keepResponse(params))
    run().catch(() => undefined)
    const reader = follow(await aGateway(), execution)
    await vi.waitUntil(() => textsOf(reader.events)[1], WITHIN)
    isDead = true
    const next = aWorker(aModel(), 60_000)
    const leasedTo = await vi.waitFor(
      async () => {
        const { id } = execution
        const claimed = await next.executions.claim({ id, lease: newLease(next), now: Date.now() })
        if (typeof claimed === 'string') throw new Error(claimed)
        return claimed
      },
      { ...WITHIN, interval: 100 },
    )
    await attempt(next, leasedTo)
    await reader.ended
    const kinds = reader.events.map(({ kind }) => kind)
    expect(kinds.indexOf('reset')).toBeGreaterThan(kinds.indexOf('delta'))
    expect(reader.events.find(({ kind }) => kind === 'reset')).toMatchObject({ step: 1, try: 1 })
    for (const text of Object.values(textsOf(reader.events))) expect(ANSWER.startsWith(text)).toBe(true)
    expect(reader.events.at(-1)).toMatchObject({ kind: 'done', execution: { output: JSON.parse(ANSWER) } })
  })
})
