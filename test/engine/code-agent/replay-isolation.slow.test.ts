import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { anAgent, replayOf, run } from './replays.ts'

let connections = 0

const server = createServer((socket) => {
  connections++
  socket.on('error', () => undefined).end()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

afterAll(() => void server.close())

describe('a replay', () => {
  it.each([
    ['while the agent is loaded', 'return {}', `try { await fetch('http://127.0.0.1:PORT') } catch {}`],
    ['that nobody awaits', `fetch('http://127.0.0.1:PORT').catch(() => {}); return {}`],
    ['in an event', `try { new EventEmitter().on('a', () => connect(PORT)).emit('a') } catch {} return {}`],
    ['before the agent throws', `try { connect(PORT) } catch {} throw new Error('of the agent')`],
    ['before the agent computes for ever', `try { connect(PORT) } catch {} for (;;) {}`],
    ['after restoring it', `net.connect = original; try { net.connect(PORT) } catch {} return {}`],
  ])('ends as Diverged by a call %s', async (_, body, head = '') => {
    const { version, original } = await calling(body, head)
    expect(await run(version, replayOf(original))).toMatchObject({ error: { code: 'Diverged' } })
    expect(await countConnections()).toBe(0)
  })

  it('says where the agent made the call', async () => {
    const { version, original } = await calling(`await fetch('https://shop.example/orders')`)
    const { error } = await run(version, replayOf(original))
    expect(error).toMatchObject({
      message: 'The agent called fetch (https://shop.example/orders), which is not available in a replay.',
      at: expect.stringMatching(/\.mjs:\d+:\d+|agent\.ts:\d+/),
    })
  })

  it('may use what has no effect', async () => {
    const body = `
      const { isIP } = await import('node:net')
      const { STATUS_CODES } = await import('node:http')
      const response = new Response('{"a":1}')
      return { values: [isIP('::1'), STATUS_CODES[404], WebSocket.OPEN, (await response.json()).a] }`
    const version = await anAgent(body)
    const { output, error } = await run(version, replayOf(await run(version)))
    expect({ output, error }).toEqual({ output: { values: [6, 'Not Found', 1, 1] }, error: null })
  })

  it('leaves the connections of other runs as they are, and those of replays with live steps', async () => {
    const { version, original } = await calling(`
      await new Promise((resolve) => connect(PORT, '127.0.0.1').on('close', resolve).resume()); return {}`)
    const runs = await Promise.all([
      run(version),
      run(version, replayOf(original)),
      run(version, replayOf(original, { steps: 'live' })),
      run(version, replayOf(original)),
    ])
    expect(runs.map(({ error }) => error?.code ?? null)).toEqual([null, 'Diverged', null, 'Diverged'])
    expect(await countConnections()).toBe(2)
  })
})

/** The connections before this one. */
async function countConnections(): Promise<number> {
  await once(connect(port, '127.0.0.1').resume(), 'close')
  const count = connections - 1
  connections = 0
  return count
}

const IMPORTS = `import net, { connect } from 'node:net'
  import { EventEmitter } from 'node:events'
  const original = net.connect`

/** A version with this body, and an original of its agent. PORT stands for a port where a server listens. */
async function calling(body: string, head = '') {
  const before = await anAgent('return {}')
  const withPort = (text: string) => text.replaceAll('PORT', String(port))
  const version = await anAgent(withPort(body), { head: `${IMPORTS}\n${withPort(head)}`, of: before })
  return { version, original: await run(before) }
}

const outputOf = async (execution: Execution | Promise<Execution>) =>
  (await execution).output as { thread: number; runs: number }

describe('the thread of a replay', () => {
  it.each(['recorded', 'live'] as const)('is new, and used by no other run, with %s steps', async (steps) => {
    const head = `import { threadId } from 'node:worker_threads'\nlet runs = 0`
    const version = await anAgent(`return { thread: threadId, runs: ++runs }`, { head })
    const original = await run(version)
    const warm = await outputOf(original)
    const first = await outputOf(run(version, replayOf(original, { steps })))
    const second = await outputOf(run(version, replayOf(original, { steps })))
    const last = await outputOf(run(version))
    expect([warm.runs, first.runs, second.runs]).toEqual([1, 1, 1])
    expect(last).toEqual({ thread: warm.thread, runs: 2 })
    expect(new Set([warm, first, second].map(({ thread }) => thread)).size).toBe(3)
  })

  it('ends with what the agent has left running', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'aes-replay-threads-')), 'log')
    onTestFinished(() => rmSync(dirname(file), { recursive: true, force: true }))
    const version = await anAgent(
      `const again = () => { appendFileSync(${JSON.stringify(file)}, 'x'); setImmediate(again) }
       again()
       return {}`,
      { head: `import { appendFileSync } from 'node:fs'` },
    )
    const original = await run(await anAgent('return {}', { of: version }))
    expect(await run(version, replayOf(original))).toMatchObject({ status: 'SUCCESS' })
    const idle = await anAgent('return {}')
    /** While other runs take place. */
    const isWriting = async () => {
      rmSync(file, { force: true })
      for (let n = 0; n < 50; n++) await run(idle)
      return existsSync(file)
    }
    await expect.poll(isWriting).toBe(false)
  })
})
