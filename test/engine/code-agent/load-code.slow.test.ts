import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { AgentThread } from '../../../lib/engine/code-agent/agent-thread.ts'
import { findLoadProblem } from '../../../lib/engine/code-agent/load-code.ts'
import { withNewThread, withThread } from '../../../lib/engine/code-agent/thread-pool.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const RETURNS = 'export default () => ({})'

const load = (code: string, { env = [] as string[], environment = {}, timeoutMs = 10_000 } = {}) =>
  findLoadProblem({ code, env, environment, timeoutMs })

describe('findLoadProblem', () => {
  it('finds none in code that loads, whatever it leaves behind, and does not call it', async () => {
    const code = `setInterval(() => {}, 5)\nexport default () => { throw new Error('called') }`
    expect(await load(code)).toBeNull()
  })

  it.each([
    ['a busy loop', `for (;;) {}\n${RETURNS}`],
    ['a wait that never ends', `await new Promise((resolve) => setInterval(() => {}, 1_000))\n${RETURNS}`],
  ])('stops %s', async (_, code) => {
    const problem = await load(code, { timeoutMs: 1_000 })
    expect(problem).toEqual({ message: 'does not load within 1 seconds', at: null, unset: [] })
  })

  it('limits the memory', async () => {
    const code = `const all = []\nfor (;;) all.push(new Array(100_000).fill(1.5))\n${RETURNS}`
    const problem = await load(code, { environment: { AGENT_MEMORY_MB: '64' } })
    expect(problem?.message).toBe('cannot be loaded: The agent exceeded its memory limit of 64 MB.')
  })

  it('passes the listed variables only, and masks them in the message', async () => {
    const code = `throw new Error(process.env.KEY + ' ' + process.env.OTHER)\n${RETURNS}`
    const problem = await load(code, { env: ['KEY'], environment: { KEY: 'sk-secret', OTHER: 'x' } })
    expect(problem).toMatchObject({ message: 'cannot be loaded: [secret KEY] undefined', unset: [] })
  })

  it('says which variables have no value, unless the code fails with them, too', async () => {
    const code = `if (!process.env.KEY) throw new Error('no key')\n${RETURNS}`
    const partly = await load(code, { env: ['KEY', 'SET'], environment: { SET: 'x' } })
    expect(partly?.unset).toEqual(['KEY'])
    expect(await load(`throw new Error('no key')\n${RETURNS}`, { env: ['KEY'] })).toMatchObject({ unset: [] })
  })

  it('leaves no file behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aes-load-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    await load(`throw new Error('x')\n${RETURNS}`)
    expect(readdirSync(folder)).toEqual([])
  })
})

const WAITS = 'export default () => new Promise((resolve) => setTimeout(resolve, 200, {}))'

const options = { environment: {}, memoryMb: 64 }

/** Executes the code once, in a thread that is kept. Returns the thread. */
function runOnce(key: string, source: string): Promise<AgentThread> {
  const url = `data:text/javascript,${encodeURIComponent(source)}`
  const task = { code: { url, sha256: null }, input: '{}', executionId: '', tenantId: null, storedSteps: [] }
  return new Promise((resolve, reject) => {
    void withThread({ version: key, tenantId: null, environment: '', depth: 0 }, options, async (thread) => {
      await thread.execute(task, () => undefined).then(() => resolve(thread), reject)
      return true
    })
  })
}

const threadsOf = async (runs: Promise<AgentThread>[]) => new Set(await Promise.all(runs)).size

/** As many runs of a version have a thread at the same time. */
const MAX_RUNNING_OF_VERSION = 32

describe('withThread', () => {
  it('leaves threads for the agents that runs have called and wait for', async () => {
    const small = { ...options, memoryMb: 16 }
    const called = vi.fn(async () => false)
    const all = Promise.withResolvers<void>()
    const start = (depth: number, use: () => Promise<boolean>) =>
      withNewThread({ version: 'one', tenantId: null, environment: '', depth }, small, use)
    const runs = Array.from({ length: MAX_RUNNING_OF_VERSION }, (_, index) =>
      start(0, async () => {
        if (index === MAX_RUNNING_OF_VERSION - 1) all.resolve()
        await all.promise
        await start(1, called)
        return false
      }),
    )
    await Promise.all(runs)
    expect(called).toHaveBeenCalledTimes(MAX_RUNNING_OF_VERSION)
  })

  it('starts no thread because the main thread is busy', async () => {
    await runOnce('busy', RETURNS)
    const runs = Array.from({ length: 20 }, () => runOnce('busy', RETURNS))
    const blocking = setInterval(() => {
      const end = performance.now() + 120
      while (performance.now() < end);
    }, 1)
    const threads = await threadsOf(runs)
    clearInterval(blocking)
    // More than one if the machine is so busy that a thread stops in the middle of a run.
    expect(threads).toBeLessThanOrEqual(3)
  })

  it('starts threads for runs that wait for others, up to the limit of a version', async () => {
    const runs = Array.from({ length: 40 }, () => runOnce('waiting', WAITS))
    const threads = await threadsOf(runs)
    expect(threads).toBeGreaterThan(1)
    expect(threads).toBeLessThanOrEqual(MAX_RUNNING_OF_VERSION)
  })

  it('uses the thread again at once after a run', async () => {
    const first = await runOnce('again', RETURNS)
    for (let n = 0; n < 5; n++) expect(await runOnce('again', RETURNS)).toBe(first)
  })

  it('keeps as many idle threads as their share of memory permits', async () => {
    const threads: AgentThread[] = []
    for (let n = 0; n < 24; n++) threads.push(await runOnce(`idle ${n}`, RETURNS))
    const alive = threads.filter(({ isDestroyed }) => !isDestroyed)
    expect(alive.length).toBeLessThanOrEqual(20)
    expect(alive.at(-1)).toBe(threads.at(-1))
    expect(await runOnce('idle 23', RETURNS)).toBe(threads.at(-1))
  })
})

const KEY = 'sk-of-the-shop-0123456789'
const MAX_LOG = 16_000
const MAX_MESSAGE = 4_000

/** Runs the body of an agent whose environment has the secret `KEY`. @returns its log and the message of its error */
async function run(body: string) {
  const code = `export default async () => { const { KEY } = process.env; ${body}; return {} }`
  const version = await aModelAgent({ code: true, env: ['KEY'], inputSchema: {}, outputSchema: {} }, { code })
  const engine = { ...engineOn(await engineTable()), environment: { KEY } }
  const options = runOptions()
  const { logs, error } = await runInProcess(engine, { version, input: {}, tenantId: null, options })
  return { logs: logs ?? '', message: error?.message ?? '' }
}

/** The longest part of the secret that a text contains. */
function longestPart(text: string): number {
  for (let size = KEY.length; size > 0; size--)
    for (let start = 0; start + size <= KEY.length; start++)
      if (text.includes(KEY.slice(start, start + size))) return size
  return 0
}

describe('masking', () => {
  it.each([1, 10, KEY.length - 4])(
    'no part of a secret remains at the start of a log that is cut at %i',
    async (at) => {
      const { logs } = await run(`console.log(KEY + '.'.repeat(${MAX_LOG - 1 - KEY.length + at}))`)
      expect(logs).toContain('....')
      expect(longestPart(logs)).toBeLessThan(4)
    },
  )

  it.each([
    ['the agent', `console.log('🦊'.slice(0, 1))`, '\ufffd\n'],
    ['the cut', `console.log('🦊' + '.'.repeat(${MAX_LOG - 2}))`, `\ufffd${'.'.repeat(MAX_LOG - 2)}\n`],
  ])('a log in which %s splits a surrogate pair is stored', async (_, body, expected) => {
    expect((await run(body)).logs).toBe(expected)
  })

  it('a secret that is printed in parts is masked', async () => {
    const { logs } = await run(`
    for (const character of KEY) {
      process.stdout.write(character)
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
    console.log('!')`)
    expect(logs).toBe('[secret KEY]!\n')
  })

  it.each([1, 10, KEY.length - 1])(
    'no part of a secret remains at the end of a message that is cut at %i',
    async (at) => {
      const { message } = await run(`throw new Error('.'.repeat(${MAX_MESSAGE - at}) + KEY + '.')`)
      expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE)
      expect(longestPart(message)).toBeLessThan(4)
    },
  )

  it('no part of a secret remains in a message that consists of secrets and is cut in the thread', async () => {
    const { message } = await run(
      `throw new Error(KEY.repeat(64_000 / KEY.length + 2).slice(0, 64_000 + 10))`,
    )
    expect(longestPart(message.replaceAll('[secret KEY]', ''))).toBeLessThan(4)
  })

  it('the end of the log is stored although it may be the beginning of a secret', async () => {
    expect((await run(`process.stdout.write('the end: sk')`)).logs).toBe('the end: sk')
    expect((await run(`process.stdout.write('the end: sk-of-the')`)).logs).toBe('the end: [secret KEY]')
  })
})
