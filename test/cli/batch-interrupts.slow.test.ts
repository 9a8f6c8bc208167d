import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
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

/** A page of results, which may not be the last one. */
const results =
  (count: number, { text = 'x', last = 'ends', next = '' } = {}): Answer =>
  (response) => {
    const link = { Link: `</v1/batches/${ID}/results?limit=1000&cursor=${next}>; rel="next"` }
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson', ...(next && link) })
    response.write(Array.from({ length: count }, (_, n) => result(n, text)).join(''))
    if (last === 'ends') response.end()
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
    ['results arrive', [me, created(2), ended(2), results(1, { last: 'stays' })]],
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
