import type { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LineResult } from '../../lib/core/batch.ts'
import { toResultsResponse } from '../../lib/http/batch-responses.ts'

beforeEach(() => void vi.stubEnv('RESPONSE_STREAMING', 'local'))
afterEach(() => void vi.unstubAllEnvs())

const LARGE = 'x'.repeat(70_000)

/** A response to a long batch. `pulled`: results that were read for it. */
async function open(text = LARGE) {
  const state = { pulled: 0, hasReturned: false, released: 0 }
  const full = new AbortController()
  async function* read(): AsyncGenerator<LineResult> {
    try {
      while (state.pulled < 2_000) {
        state.pulled++
        const customId = String(state.pulled)
        yield { customId, executionId: 'id', status: 'SUCCESS', output: { text }, error: null }
      }
    } finally {
      state.hasReturned = true
    }
  }
  const response = await toResultsResponse(read(), { full: full.signal, release: () => state.released++ })
  return { state, full, stream: response.stream as Readable }
}

const next = (stream: Readable) => new Promise<string>((resolve) => stream.once('data', resolve))
const settled = (stream: Readable) =>
  new Promise<Error | undefined>((resolve) => {
    stream.once('error', resolve)
    stream.once('end', () => resolve(undefined))
  })

describe('toResultsResponse', () => {
  it('reads no further than its client', async () => {
    const { state, stream } = await open()
    const first = await next(stream)
    stream.pause()
    expect(first.endsWith('}\n')).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    expect(state.pulled).toBeLessThanOrEqual(4)
    stream.destroy()
  })

  it('sends small results together', async () => {
    const { state, stream } = await open('x')
    const lines = (await next(stream)).trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(500)
    expect(lines.every((line) => JSON.parse(line).output.text === 'x')).toBe(true)
    expect(state.released).toBe(0)
    stream.destroy()
  })

  it('stops reading when the client hangs up', async () => {
    const { state, stream } = await open()
    await next(stream)
    stream.destroy()
    await vi.waitUntil(() => state.hasReturned)
    const { pulled } = state
    expect(state.released).toBe(1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(state.pulled).toBe(pulled)
  })

  it('breaks off if it may not be open any more, so that nobody takes it for whole', async () => {
    const { state, full, stream } = await open()
    await next(stream)
    full.abort(new Error('full'))
    expect(await settled(stream)).toMatchObject({ message: 'full' })
    expect([state.released, state.hasReturned]).toEqual([1, true])
  })
})
