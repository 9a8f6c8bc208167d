import type { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ANONYMOUS } from '../../../lib/core/access.ts'
import type { ExecutionEvent } from '../../../lib/core/step.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { toEventStreamResponse } from '../../../lib/http/event-stream.ts'
import { toGatewayEvent } from '../../fixtures/captured-events.ts'
import { localHandlers } from '../../support/service/local-handlers.ts'
import { organizationWith } from '../../support/service/organization-with.ts'

beforeEach(() => void vi.stubEnv('RESPONSE_STREAMING', 'local'))
afterEach(() => void vi.stubEnv('RESPONSE_STREAMING', undefined))

/** A request that may be open until `full` aborts. */
const heldBy = (release: () => void, full = new AbortController().signal) => ({ full, release })

async function streamOf(read: Parameters<typeof toEventStreamResponse>[0], held = heldBy(() => undefined)) {
  return (await toEventStreamResponse(read, { access: ANONYMOUS, held })).stream as Readable
}

const STATUS: ExecutionEvent = { kind: 'status', id: 'a', status: 'IN_PROGRESS' }

/** A response whose next event never comes. */
async function open() {
  const onClose = vi.fn()
  const opened = Promise.withResolvers<AbortSignal>()
  const stream = await streamOf(async function* (signal) {
    opened.resolve(signal)
    yield [STATUS]
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }, heldBy(onClose))
  return { stream, signal: opened.promise, onClose }
}

/** The limit of a token. */
const MAX_STREAMS = 20

const { 'stream-events': handler } = localHandlers()

describe('toEventStreamResponse', () => {
  it('stops reading when the client hangs up while it waits for an event', async () => {
    const { stream, signal, onClose } = await open()
    expect(String(await new Promise((resolve) => stream.once('data', resolve)))).toContain('IN_PROGRESS')
    expect([(await signal).aborted, onClose.mock.calls.length]).toEqual([false, 0])
    stream.destroy()
    expect([(await signal).aborted, onClose.mock.calls.length]).toEqual([true, 1])
  })

  it('sends a comment that keeps the connection alive while nothing happens', async () => {
    const idle = async function* (): AsyncGenerator<ExecutionEvent[]> {
      yield [{ kind: 'idle' }]
    }
    expect((await (await streamOf(idle)).toArray()).join('')).toBe(': keep-alive\n\nretry: 1000\n\n')
  })

  it.each([
    [1_000, 1_000],
    [60_000, 15_000],
    [86_400_000, 60_000],
  ])(
    'of an execution that has waited for %d ms is asked for again after %d ms',
    async (waitedMs, retryMs) => {
      const since = new Date(Date.now() - waitedMs).toISOString()
      const waits: Wait[] = [{ kind: 'sleep', name: 'nap', since, until: null }]
      const read = async function* (): AsyncGenerator<ExecutionEvent[]> {
        yield [{ kind: 'waiting', id: 'a', waits }]
      }
      const text = (await (await streamOf(read)).toArray()).join('')
      expect(text).toMatch(new RegExp(`\nretry: ${retryMs}\n\n$`))
    },
  )

  it('ends when it may no longer be open, and is asked for again later', async () => {
    const full = new AbortController()
    const onClose = vi.fn()
    const read = async function* (signal: AbortSignal) {
      yield [STATUS]
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    const stream = await streamOf(read, heldBy(onClose, full.signal))
    const chunks: string[] = []
    for await (const chunk of stream) {
      chunks.push(String(chunk))
      full.abort()
    }
    expect(chunks.join('')).toMatch(/^event: status\n[\s\S]*retry: 10000\n\n$/)
    await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce())
  })
})

it('HEAD of an event stream leaves no stream open', async () => {
  const org = await organizationWith('wait')
  const { json } = await org.run('wait', { seconds: 600 }, 'execMode=async')
  const event = toGatewayEvent('stream-events', { organizationId: org.id, executionId: json.id })
  const send = () => handler({ ...event, httpMethod: 'HEAD' } as never, {})
  for (let count = 0; count <= MAX_STREAMS; count++)
    expect(await send()).toMatchObject({ statusCode: 200, body: '' })
  await org.call('POST', `/v1/agent_executions/${json.id}/cancel`)
})
