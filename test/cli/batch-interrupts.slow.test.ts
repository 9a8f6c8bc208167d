import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, hang, json, SOON, scriptedService } from '../clients/typescript/scripted-service.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

const MAIN = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))
const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const me = json(200, {})
const record = (lines: number, status: string) => ({
  ...{ id: ID, status, lines, costUsd: 0, counts: { IN_PROGRESS: 0, SUCCESS: lines, ERROR: 0 } },
})
const created = (lines: number) => json(202, record(lines, 'IN_PROGRESS'))
const ended = (lines: number) => json(200, record(lines, 'ENDED'))
const result = (n: number, text = 'x') =>
  `{"customId":"${n}","executionId":null,"status":"SUCCESS","output":{"text":"${text}"},"error":null}\n`

/** Sends results one by one, as fast as they are read. */
const results =
  (count: number, text = 'x', then: 'end' | 'stay' = 'end'): Answer =>
  async (response) => {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
    const lines = Readable.from(
      (function* () {
        for (let n = 0; n < count; n++) yield result(n, text)
      })(),
    )
    await pipeline(lines, response, { end: then === 'end' }).catch(() => undefined)
  }

beforeAll(() => {
  cli.write({ 'in.ndjson': '{"n":1}\n{"n":2}\n' })
  mkdirSync(join(cli.folder, 'results'))
})
const OUT = ['--out', 'results/out.ndjson']
const filesInResults = () => readdirSync(join(cli.folder, 'results'))

async function start(args: string[], answers: Answer[], environment: Record<string, string> = {}) {
  const { baseUrl, requests } = await scriptedService(answers)
  const command = cli.start([...args, '--url', baseUrl], {
    environment: { AGENTS_TOKEN: 'aes_test', ...environment },
  })
  return { ...command, requests, baseUrl }
}

describe('Ctrl-C', () => {
  it.each<[string, Answer[]]>([
    ['the batch runs', [me, created(2), hang]],
    ['results arrive', [me, created(2), ended(2), results(1, 'x', 'stay')]],
  ])('while %s leaves it running, and no file', async (_, answers) => {
    const {
      kill,
      ended: outcome,
      requests,
      baseUrl,
    } = await start(['batch', 'echo', 'in.ndjson', ...OUT], answers)
    await expect.poll(() => requests.length, SOON).toBe(answers.length)
    kill('SIGINT')
    const { code, stdout, stderr } = await outcome
    expect([code, stdout, filesInResults()]).toEqual([130, '', []])
    expect(stderr).toContain(`Stopped waiting. Batch ${ID} continues.\n`)
    expect(stderr).toContain(
      `npm run agents -- batches results ${ID} --out results/out.ndjson --url ${baseUrl}\n`,
    )
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('while it is not known whether the batch has started tells how to find it', async () => {
    const { kill, ended: outcome, requests } = await start(['batch', 'echo', 'in.ndjson', ...OUT], [me, hang])
    await expect.poll(() => requests.length, SOON).toBe(2)
    kill('SIGINT')
    const { code, stderr } = await outcome
    expect(code).toBe(130)
    expect(stderr).toContain(`--idempotency-key ${requests[1]?.headers['idempotency-key']}\n`)
  })
})

describe('a reader of the results that goes away', () => {
  it('ends the command, which tells how to get the results', async () => {
    const { baseUrl, requests } = await scriptedService([
      me,
      created(100_000),
      ended(100_000),
      results(100_000),
    ])
    const command = `set -o pipefail; "${process.execPath}" "${MAIN}" batch echo in.ndjson --url ${baseUrl} | head -n 1`
    const env = { ...process.env, AGENTS_TOKEN: 'aes_test', DATA_DIR: cli.dataDir }
    const failure = await promisify(execFile)('bash', ['-c', command], { cwd: cli.folder, env }).catch(
      (error: unknown) => error,
    )
    expect(failure).toMatchObject({ code: 1, stdout: result(0) })
    expect(failure).toMatchObject({ stderr: expect.stringContaining(`batches results ${ID}`) })
    expect(requests).toHaveLength(4)
  })
})

describe('memory', () => {
  const PRINT = 'process.on("exit", () => process._rawDebug("RSS", process.resourceUsage().maxRSS))\n'
  const MAX_GROWTH_KB = 50_000

  /** The most that the command had in memory, in kB. */
  async function memoryOf(count: number): Promise<number> {
    const command = await start(
      ['batches', 'results', ID, ...OUT],
      [ended(count), results(count, 'x'.repeat(3_000))],
      { NODE_OPTIONS: `--import ${join(cli.folder, 'print.mjs')}` },
    )
    const { code, stderr } = await command.ended
    expect([code, stderr]).toEqual([0, expect.stringMatching(/RSS \d+/)])
    return Number(/RSS (\d+)/.exec(stderr)?.[1])
  }

  it('does not depend on the number of results', async () => {
    cli.write({ 'print.mjs': PRINT })
    const few = await memoryOf(3_000)
    const many = await memoryOf(30_000)
    expect(statSync(join(cli.folder, 'results/out.ndjson')).size).toBeGreaterThan(90_000_000)
    expect(many - few).toBeLessThan(MAX_GROWTH_KB)
  })
})
