import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Answer,
  batchAnswers,
  hang,
  json,
  results,
  SOON,
  scriptedService,
} from '../clients/typescript/scripted-service.ts'
import { aTrial, TRIAL_ID, TRIED_VERSION } from '../support/a-trial.ts'
import { cliOfFile } from './cli.ts'

const cli = cliOfFile()

const MAIN = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))
const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const me = json(200, {})
const { created, ended } = batchAnswers(ID)
const result = (n: number) =>
  `{"customId":"${n}","executionId":null,"status":"SUCCESS","output":{"text":"x"},"error":null}\n`

const lines = (count: number) => Array.from({ length: count }, (_, n) => result(n)).join('')

const agent = json(200, { id: TRIED_VERSION, slug: 'triage', draftVersionId: TRIED_VERSION })
const startedTrial = json(202, { id: TRIAL_ID, status: 'IN_PROGRESS' })
const runningTrial = json(200, { ...aTrial({ SAME: 1 }), status: 'IN_PROGRESS', sums: null })

beforeAll(() => cli.write({ 'in.ndjson': '{"n":1}\n{"n":2}\n' }))
const BATCH = ['batch', 'echo', 'in.ndjson', '--out', 'out.ndjson']
const TRIAL = ['trial', 'triage', '--max-cost', '2', '--report', 'out.md']

/** Presses Ctrl-C when the last answer is awaited. */
async function interrupt(args: string[], answers: Answer[]) {
  const { baseUrl, requests } = await scriptedService(answers)
  const command = cli.start([...args, '--url', baseUrl], { environment: { AGENTS_TOKEN: 'aes_secret' } })
  await expect.poll(() => requests.length, SOON).toBe(answers.length)
  command.kill('SIGINT')
  const { code, stdout, stderr } = await command.ended
  expect([code, stdout, readdirSync(cli.folder)]).toEqual([130, '', ['in.ndjson']])
  expect(stderr).not.toContain('aes_secret')
  return { stderr, baseUrl, requests }
}

describe('Ctrl-C', () => {
  it.each<[string, Answer[]]>([
    ['the batch runs', [me, created(2), hang]],
    ['its results arrive', [me, created(2), ended(2), results(lines(1), 'stay')]],
  ])('while %s leaves it running, and says how to get the results', async (_, answers) => {
    const { stderr, baseUrl, requests } = await interrupt(BATCH, answers)
    expect(stderr).toContain(`Stopped waiting. Batch ${ID} continues.\n`)
    expect(stderr).toContain(`batches results ${ID} --out out.ndjson --url ${baseUrl}\n`)
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('leaves a trial running, without a report, and says how to come back', async () => {
    const answers = [agent, startedTrial, runningTrial, hang]
    const { stderr, baseUrl } = await interrupt(TRIAL, answers)
    expect(stderr).toBe(
      [
        'Stopped waiting.',
        `Results: npx agent-execution trials results ${TRIAL_ID} --report out.md --url ${baseUrl}`,
        `Cancel: npx agent-execution trials cancel ${TRIAL_ID} --url ${baseUrl}`,
        '',
      ].join('\n'),
    )
  })

  it.each([
    ['batch', BATCH, me],
    ['trial', TRIAL, agent],
  ])('tells how to find a %s that may have started', async (_, args, first) => {
    const { stderr, requests } = await interrupt(args, [first, hang])
    expect(stderr).toContain(`--idempotency-key ${requests[1]?.headers['idempotency-key']}\n`)
  })
})

it('a reader of the results that goes away ends the command, which tells how to get the results', async () => {
  const count = 100_000
  const { baseUrl } = await scriptedService([me, created(count), ended(count), results(lines(count))])
  const command = `set -o pipefail; "${process.execPath}" "${MAIN}" batch echo in.ndjson --url ${baseUrl} | head -n 1`
  const env = { ...process.env, AGENTS_TOKEN: 'aes_test', DATA_DIR: cli.dataDir }
  const piping = promisify(execFile)('bash', ['-c', command], { cwd: cli.folder, env })
  const failure = await piping.catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 1, stdout: result(0) })
  expect(failure).toMatchObject({ stderr: expect.stringContaining(`batches results ${ID}`) })
})
