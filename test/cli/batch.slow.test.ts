import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import {
  type Answer,
  batchAnswers,
  json,
  problem,
  type Received,
  results,
  scriptedService,
} from '../clients/typescript/scripted-service.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { cliOfFile } from './cli.ts'

const cli = cliOfFile({ hasDatabase: true })

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const me = json(200, { organizationId: ID })
const { created, running, ended } = batchAnswers(ID)
const succeeded = (customId: string, output = '{"n":1}') =>
  `{"customId":"${customId}","executionId":"${ID}","status":"SUCCESS","output":${output},"error":null}\n`
const failed = (customId: string, code: string) =>
  `{"customId":"${customId}","executionId":null,"status":"ERROR","output":null,"error":{"code":"${code}","message":"x"}}\n`
const line = (customId: string, input = '{"n":1}') => `{"customId":"${customId}","input":${input}}\n`

beforeEach(() => cli.write({ 'in.ndjson': line('a') + line('b') }))
const filesIn = () => readdirSync(cli.folder).filter((name) => name.startsWith('out'))
const read = (name: string) => readFileSync(join(cli.folder, name), 'utf8')

async function run(args: string[], answers: Answer[], stdin = '') {
  const { baseUrl, requests } = await scriptedService(answers)
  const environment = { AGENTS_TOKEN: 'aes_test' }
  const outcome = await cli.run([...args, '--url', baseUrl], { environment, stdin })
  return { ...outcome, requests, baseUrl }
}
const bodyOf = (requests: Received[]) => requests.find(({ method }) => method === 'POST')?.body

describe('batch', () => {
  it('writes the results to standard output, in order and with all digits', async () => {
    const lines = [succeeded('a', '{"n":12345678901234567890.10}'), succeeded('b')]
    const input = line('a', '{"n":12345678901234567890.10}') + line('b')
    const options = '--tenant acme --strict --max-cost 1 --max-batch-cost 5 --concurrency 7'.split(' ')
    const { code, stdout, stderr, requests } = await run(
      ['batch', 'echo', '-', ...options],
      [me, created(2), running(2), ended(2), results(lines.join(''))],
      input,
    )
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: lines.join(''), stderr: '' })
    expect(bodyOf(requests)).toBe(input)
    expect(Object.fromEntries(new URL(requests[1]?.path ?? '', 'http://x').searchParams)).toEqual({
      enforceInputSchema: 'true',
      maxCostUsd: '1',
      tenantId: 'acme',
      maxBatchCostUsd: '5',
      maxConcurrency: '7',
    })
  })

  it('writes a file, and fails if a line has failed', async () => {
    const lines = [succeeded('a'), failed('b', 'AgentFailed')]
    const answers = [me, created(2), ended(2), results(lines.join(''))]
    const { code, stdout, stderr, baseUrl } = await run(
      ['batch', 'echo', 'in.ndjson', '--out', 'out.ndjson'],
      answers,
    )
    expect([code, stdout]).toEqual([1, 'Wrote 2 results to out.ndjson.\n'])
    expect(stderr).toBe(
      `1 of 2 lines failed: AgentFailed 1.\nRetry: npx agent-execution batches retry ${ID} --url ${baseUrl}\n`,
    )
    expect([read('out.ndjson'), filesIn()]).toEqual([lines.join(''), ['out.ndjson']])
    const summary = await run(['batch', 'echo', 'in.ndjson', '--out', 'out.ndjson', '--json'], answers)
    expect(JSON.parse(summary.stdout)).toEqual({
      ...{ batches: [ID], lines: 2, succeeded: 1, failed: 1, inProgress: 0 },
      ...{ codes: { AgentFailed: 1 }, out: 'out.ndjson' },
    })
  })

  it('starts nothing if the file has a bad line, and lists them with their numbers', async () => {
    cli.write({ 'bad.ndjson': `${line('a')}\n{"customId":"b"}\nno JSON\n${line('c')}` })
    const { code, stderr, requests } = await run(['batch', 'echo', 'bad.ndjson'], [me])
    expect([code, requests.length]).toEqual([1, 1])
    expect(stderr).toMatch(
      /^Line 3: \/input .*\nLine 4: .*is not valid JSON.*\nbad.ndjson has 2 bad lines\.\n$/,
    )
  })

  it('tells of lines that the service refuses by their number in the file', async () => {
    cli.write({ 'gaps.ndjson': `\n${line('a')}\n\n${line('b')}` })
    const errors = [1, 2].map((number) => ({
      line: number,
      path: '/input',
      message: `Line ${number}: /input/n is wrong.`,
    }))
    const refusal = problem(422, 'InputSchemaMismatch', { errors })
    const { code, stderr } = await run(['batch', 'echo', 'gaps.ndjson'], [me, refusal])
    expect([code, stderr]).toEqual([
      1,
      'Line 2: /input/n is wrong.\nLine 5: /input/n is wrong.\ngaps.ndjson has 2 bad lines.\n',
    ])
  })

  it('only checks with --validate', async () => {
    const { stdout, requests } = await run(
      ['batch', 'echo', 'in.ndjson', '--validate', '--out', 'out-validated'],
      [me, json(200, { lines: 2, valid: true })],
    )
    expect(stdout).toBe('in.ndjson: 2 lines are valid.\n')
    expect(existsSync(join(cli.folder, 'out-validated'))).toBe(false)
    expect(requests[1]?.path).toContain('validateOnly=true')
  })

  it('leaves no file and says how to go on when the results break', async () => {
    const answers = [me, created(2), ended(2), results(`${succeeded('a')}<h1>\n`)]
    const command = ['batch', 'echo', 'in.ndjson', '--out', 'out-broken', '--token', 'aes_secret']
    const { code, stderr, baseUrl } = await run(command, answers)
    expect([code, filesIn().filter((name) => name.startsWith('out-broken'))]).toEqual([1, []])
    expect(stderr).toContain('Cannot run the batch: The response is not a JSON object or list.')
    expect(stderr).toContain(
      `Results: npx agent-execution batches results ${ID} --out out-broken --url ${baseUrl}\n`,
    )
    expect(stderr).not.toContain('aes_secret')
  })

  it('says how to submit the rest of a file', async () => {
    const count = 10_001
    cli.write({ 'many.ndjson': Array.from({ length: count }, (_, n) => `{"n":${n}}\n`).join('') })
    const first = Array.from({ length: 10_000 }, (_, n) => succeeded(String(n + 1)))
    const { stderr, requests } = await run(
      ['batch', 'echo', 'many.ndjson', '--out', 'out-many', '--token', 'aes_secret'],
      [me, created(10_000), ended(10_000), results(first.join('')), problem(410, 'AgentArchived')],
    )
    const key = requests[1]?.headers['idempotency-key']
    expect(requests[4]?.headers['idempotency-key']).toBe(`${key}-10000`)
    expect(stderr).toMatch(
      new RegExp(
        `npx agent-execution batch echo many.ndjson --out out-many --url \\S+ --idempotency-key ${key}\n$`,
      ),
    )
  })

  it.each<[string[], RegExp]>([
    [['missing.ndjson'], /missing.ndjson does not exist/],
    [['in.ndjson', '--out', 'in.ndjson'], /is the file of the inputs/],
    [['in.ndjson', '--out', 'out-folder'], /out-folder is a folder/],
    [['-'], /Standard input has no lines/i],
  ])('starts nothing with %j', async (args, message) => {
    mkdirSync(join(cli.folder, 'out-folder'), { recursive: true })
    const { code, stderr, requests } = await run(['batch', 'echo', ...args], [me])
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(message)
    expect(bodyOf(requests)).toBeUndefined()
  })
})

describe('batches', () => {
  it('are run, listed, shown, read, retried, cancelled and deleted on the service', async () => {
    const own = await newOrganization()
    await own.publish('echo')
    const target = ['--url', inject('service'), '--token', own.token]
    const command = (...args: string[]) => cli.run([...args, ...target])
    const json = (...args: string[]) => cli.json([...args, ...target])
    const texts = Array.from({ length: 30 }, (_, n) => `${n} ü`)
    const lines = texts.map((text, n) => `${JSON.stringify({ customId: `line ${n}`, input: { text } })}\n`)
    cli.write({ 'in.ndjson': lines.join('') })
    const args = ['batch', 'echo', 'in.ndjson', '--out', 'out-all.ndjson', '--idempotency-key', 'k1']
    const summary = await json(...args)
    expect(summary).toMatchObject({ lines: 30, succeeded: 30, failed: 0 })
    expect(await json(...args)).toEqual(summary)
    const written = read('out-all.ndjson')
    const all = written
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text))
    expect(all.map(({ customId, output }) => [customId, output.text])).toEqual(
      texts.map((text, n) => [`line ${n}`, text]),
    )
    const [id] = summary.batches
    expect((await command('batches')).stdout).toMatch(new RegExp(`${id} +echo +ENDED +30 of 30 +0 `))
    expect((await command('batches', 'get', id)).stdout).toContain('ended          30 of 30\n')
    expect((await command('batches', 'results', id, '--no-wait')).stdout).toBe(written)
    const retried = await command('batches', 'retry', id, '--version', ID)
    expect([retried.code, retried.stderr]).toEqual([1, expect.stringContaining('Cannot retry the batch')])
    expect(await json('batches', 'cancel', id)).toMatchObject({ status: 'ENDED' })
    expect(await json('batches', 'delete', id)).toEqual({ id, deleted: true })
    const gone = await command('batches', 'get', id)
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('Cannot get the batch')])
  })
})
