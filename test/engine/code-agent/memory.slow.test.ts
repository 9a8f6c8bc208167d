import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { runHostile, hostile as version } from './run-hostile.ts'

/** A thread has fewer than ten before it is replaced. */
const RUNS = 12

const EXCEEDED = 'The agent exceeded its memory limit of 64 MB.'

describe('the memory limit of a code agent', () => {
  it.each([
    ['heap', undefined],
    ['buffers', '200'],
    ['buffers in a busy loop', undefined],
    ['one large buffer', '500'],
    ['shared buffers', '200'],
  ])('ends a run with too many: %s', async (how, text) => {
    const { error } = await runHostile(version, how, { ...(text && { text }) })
    expect(error).toMatchObject({ code: 'AgentFailed', message: EXCEEDED })
    expect((await runHostile(version, 'runs of thread')).output).toEqual({ result: '1' })
  })

  it.each(['buffers', 'shared buffers'])('permits %s below it', async (how) => {
    const { status } = await runHostile(version, how, { text: '40', tenantId: how })
    expect(status).toBe('SUCCESS')
  })

  it.each([
    ['heap that is kept', '4'],
    ['buffers that are kept', '8'],
  ])('is not reached by many runs that each leave a little: %s', async (how, text) => {
    const runsOfThread: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const { error, output } = await runHostile(version, how, { text, tenantId: how })
      expect(error).toBeNull()
      runsOfThread.push(Number(output?.result))
    }
    expect(runsOfThread[1]).toBe(2)
    expect(Math.max(...runsOfThread)).toBeLessThan(10)
  })
})

describe('the memory limit with the flags of Lambda', () => {
  const FLAGS = ['--expose-gc', '--max-semi-space-size=51', '--max-old-space-size=921']
  const PROCESS = fileURLToPath(new URL('agent-process.ts', import.meta.url))

  async function runIn(memoryMb: number, source: string, env: Record<string, string> = {}) {
    const given = [...FLAGS, PROCESS, String(memoryMb), `const kept = []\n${source}`]
    const { stdout } = await promisify(execFile)(process.execPath, given, { env })
    return JSON.parse(stdout)
  }

  const SHARED = `export default async () => {
    for (;;) { kept.push(new Uint8Array(new SharedArrayBuffer(2 ** 20)).fill(1)); await new Promise((resolve) => setTimeout(resolve, 1)) }
  }`
  const TOGETHER = `export default () => {
    for (let n = 0; n < 90; n++) kept.push(Buffer.alloc(2 ** 20, 1))
    for (;;) kept.push(new Array(1_000).fill(Math.random()))
  }`

  it.each([
    ['the heap', 'export default () => { for (;;) kept.push({ a: Math.random(), b: [1, 2] }) }', {}],
    ['buffers', 'export default () => { for (;;) kept.push(Buffer.alloc(2 ** 20, 1)) }', {}],
    ['heap and buffers together', TOGETHER, {}],
    [
      'the memory of the function, before it is exhausted',
      SHARED,
      { AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '400' },
    ],
  ])('holds for %s', async (_, source, environment) => {
    const { failure, peakMb } = await runIn(100, source, environment)
    expect(failure).toBe('The agent exceeded its memory limit of 100 MB.')
    expect(peakMb).toBeLessThan(600)
  })

  it('ends the thread, and not the process, for a map that doubles itself', async () => {
    const source = 'const all = new Map(); export default () => { for (let n = 0; ; n++) all.set(n, n) }'
    const { failure } = await runIn(64, source)
    expect(failure).toBe('The agent exceeded its memory limit of 64 MB.')
  })

  it('permits buffers of any number that are garbage when the run ends', async () => {
    const source = `export default () => {
      for (let n = 0; n < 1_000; n++) Buffer.alloc(2 ** 20, 1)
      return { isDone: true }
    }`
    const { ended } = await runIn(64, source)
    expect(ended.result).toEqual({ type: 'returned', json: '{"isDone":true}' })
  })
})
