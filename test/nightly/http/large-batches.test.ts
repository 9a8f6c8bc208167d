import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { availableParallelism } from 'node:os'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'

const NDJSON = { 'Content-Type': 'application/x-ndjson' }
/** Event streams of a token at the same time. */
const MAX_STREAMS = 20

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  for (const slug of ['echo', 'waits']) await own.publish(slug)
})

async function started(agent: string, inputs: object[], query: string): Promise<string> {
  const raw = inputs.map((input, index) => JSON.stringify({ customId: `line-${index}`, input })).join('\n')
  const { status, json } = await own.call('POST', `/v1/agents/${agent}/batches?${query}`, {
    raw,
    headers: NDJSON,
  })
  expect(status, JSON.stringify(json)).toBe(202)
  return json.id
}
const get = async (id: string) => (await own.call('GET', `/v1/batches/${id}`)).json
const ended = (id: string) =>
  waitUntil(async () => (await get(id)).status === 'ENDED', {
    what: 'the end of the batch',
    limitMs: 600_000,
    intervalMs: 250,
  })
async function results(id: string) {
  const { text } = await own.call('GET', `/v1/batches/${id}/results`)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('a batch of 10,000 lines of 400 bytes', () => {
  it('is accepted, read, cancelled, repeated and deleted', async () => {
    const inputs = Array.from({ length: 10_000 }, (_, line) => ({
      seconds: 3_600,
      signal: `${line}-${'x'.repeat(350)}`,
    }))
    const id = await started('waits', inputs, 'maxConcurrency=1&enforceInputSchema=true')
    const names = inputs.map((_, line) => `line-${line}`)
    const open = await results(id)
    expect(open.map(({ customId }) => customId)).toEqual(names)
    expect(new Set(open.map(({ status }) => status))).toEqual(new Set(['IN_PROGRESS']))
    await own.call('POST', `/v1/batches/${id}/cancel`)
    await ended(id)
    expect(await get(id)).toMatchObject({ cancelled: 10_000, counts: { ERROR: 10_000, IN_PROGRESS: 0 } })
    expect((await results(id)).map(({ error }) => error.code)).toEqual(names.map(() => 'Cancelled'))

    const retry = await own.call('POST', `/v1/batches/${id}/retry-failed`)
    expect([retry.status, retry.json.lines]).toEqual([202, 10_000])
    await own.call('POST', `/v1/batches/${retry.json.id}/cancel`)
    await ended(retry.json.id)
    expect((await results(retry.json.id)).map(({ customId }) => customId)).toEqual(names)
    for (const each of [id, retry.json.id])
      expect((await own.call('DELETE', `/v1/batches/${each}`)).status).toBe(204)
  })
})

describe('results of 500 kB', () => {
  it('are read by clients that wait, and no more of them than a token may have', async () => {
    const inputs = Array.from({ length: 8 }, (_, line) => ({ text: `${line}`.repeat(500_000) }))
    const id = await started('echo', inputs, 'maxConcurrency=2')
    await ended(id)
    expect((await results(id)).map(({ output }) => output.text[0])).toEqual(
      inputs.map((_, line) => `${line}`),
    )

    const { port } = new URL(inject('service'))
    const path = `/v1/batches/${id}/results`
    /** Sends a request and does not read the response. */
    const open = () =>
      new Promise<ReturnType<typeof connect>>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1')
        socket.on('error', () => undefined)
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own.token}\r\n\r\n`)
        socket.once('readable', () => resolve(socket))
      })
    const sockets = await Promise.all(Array.from({ length: MAX_STREAMS }, open))
    const status = async () => (await own.call('GET', path)).status
    expect(await status()).toBe(429)
    expect((await own.call('GET', `${path}?limit=1`)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await waitUntil(async () => (await status()) === 200, { what: 'a free stream', limitMs: 60_000 })
  })
})

describe('a batch of 400 lines of 500 ms on a machine whose processors are busy', () => {
  const inputs = Array.from({ length: 400 }, () => ({ seconds: 0.5 }))

  beforeAll(async () => {
    await own.publish('wait')
    const loops = Array.from({ length: availableParallelism() }, () =>
      spawn(process.execPath, ['-e', 'for (;;) {}'], { stdio: 'ignore' }),
    )
    return () => {
      for (const loop of loops) loop.kill('SIGKILL')
    }
  })

  it('is slower, and has no error; a cancellation does not wait for its lines', async () => {
    const startedAt = performance.now()
    const whole = await started('wait', inputs, 'maxConcurrency=200')
    await ended(whole)
    const wholeMs = performance.now() - startedAt
    expect((await get(whole)).counts).toMatchObject({ SUCCESS: 400, ERROR: 0 })

    const id = await started('wait', inputs, 'maxConcurrency=200')
    await waitUntil(async () => (await get(id)).counts.SUCCESS > 0, { what: 'a result', limitMs: 120_000 })
    const cancelledAt = performance.now()
    await own.call('POST', `/v1/batches/${id}/cancel`)
    await ended(id)
    expect(performance.now() - cancelledAt).toBeLessThan(wholeMs / 2)
    const failed = (await results(id)).filter(({ status }) => status === 'ERROR')
    expect(failed.length).toBeGreaterThan(0)
    expect(new Set(failed.map(({ error }) => error.code))).toEqual(new Set(['Cancelled']))
  }, 900_000)
})
