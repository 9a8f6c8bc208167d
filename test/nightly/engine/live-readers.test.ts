import type { Readable } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { median } from '../../../bench/harness/rounds.ts'
import { ANONYMOUS } from '../../../lib/core/access.ts'
import { DELTA_MS, openLiveResponse } from '../../../lib/engine/checkpoints/live-response.ts'
import { openEvents } from '../../../lib/engine/events/open-events.ts'
import { toEventStreamResponse } from '../../../lib/http/event-stream.ts'
import { SecretMask } from '../../../lib/tools/secret-mask.ts'
import { anExecution } from '../../support/engine/executions.ts'

const READERS = 200
const TOKENS = 400
const TOKENS_A_SECOND = 200
const ROUNDS = 5
const MAX_RATIO = 1.1

/** Milliseconds that a model needs for its tokens, with readers in the process of its worker. */
async function timeResponse(readers: number): Promise<number> {
  vi.stubEnv('RESPONSE_STREAMING', 'local')
  const { id, organizationId, attempts } = anExecution()
  const probe = async () => ({ status: 'IN_PROGRESS' as const, suspension: null, hasMore: false })
  const list = async () => ({ items: [], next: null })
  const events = openEvents({
    executions: { get: async () => null, watch: async () => {} },
    steps: { probe, list },
  })
  const live = openLiveResponse({
    execution: { id, attempts: attempts + 1 },
    mask: new SecretMask(),
    journal: { watchedUntil: 0 },
    steps: { keepResponse: async () => {} },
  })
  const lengths: number[] = []
  const streams = await Promise.all(
    Array.from({ length: readers }, async (_, reader) => {
      const params = { id, organizationId, status: 'IN_PROGRESS' as const, after: 0, maxMs: 60_000 }
      const read = (signal: AbortSignal) => events.read({ ...params, deltas: 'here', signal })
      const held = { full: new AbortController().signal, release: () => undefined }
      const response = await toEventStreamResponse(read, { access: ANONYMOUS, held })
      const stream = response.stream as Readable
      lengths[reader] = 0
      stream.on('data', (chunk: Buffer) => {
        const texts = String(chunk).matchAll(/"text":"([^"]*)"/g)
        for (const [, text = ''] of texts) lengths[reader] = (lengths[reader] ?? 0) + text.length
      })
      return stream
    }),
  )
  live.begin(1)
  const startedAt = performance.now()
  for (let token = 1; token <= TOKENS; token++) {
    live.add({ text: 'token' })
    const dueAt = startedAt + (token * 1_000) / TOKENS_A_SECOND
    await new Promise((resolve) => setTimeout(resolve, Math.max(dueAt - performance.now(), 0)))
  }
  const ms = performance.now() - startedAt
  await vi.waitFor(() => expect(lengths).toEqual(Array(readers).fill(TOKENS * 5)), { timeout: 40 * DELTA_MS })
  for (const stream of streams) stream.destroy()
  live.close(1)
  return ms
}

it(`${READERS} readers of the deltas of a run slow it by 10 % at most`, { timeout: 120_000 }, async () => {
  const [alone, read]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await timeResponse(0))
    read.push(await timeResponse(READERS))
  }
  expect(median(read) / median(alone)).toBeLessThanOrEqual(MAX_RATIO)
})
