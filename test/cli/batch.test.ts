import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Answer,
  html,
  json,
  problem,
  type Received,
  scriptedService,
} from '../clients/typescript/scripted-service.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const AT_ONCE = { 'Retry-After': '0' }
const me = json(200, { organizationId: ID })
const record = (lines: number, fields: object = {}) => ({
  ...{ id: ID, status: 'ENDED', lines, costUsd: 0.5, counts: { IN_PROGRESS: 0, SUCCESS: lines, ERROR: 0 } },
  ...fields,
})
const created = (lines: number, fields: object = {}) =>
  json(202, record(lines, { status: 'IN_PROGRESS', ...fields }))
const ended = (lines: number, fields: object = {}) => json(200, record(lines, fields))
const succeeded = (customId: string, output = '{"n":1}') =>
  `{"customId":"${customId}","executionId":"${ID}","status":"SUCCESS","output":${output},"error":null}\n`
const failed = (customId: string, code: string) =>
  `{"customId":"${customId}","executionId":null,"status":"ERROR","output":null,"error":{"code":"${code}","message":"x"}}\n`
const results =
  (...lines: string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
    response.end(lines.join(''))
  }
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
    const options = [
      '--tenant',
      'acme',
      '--strict',
      '--max-cost',
      '1',
      '--max-batch-cost',
      '5',
      '--concurrency',
      '7',
    ]
    const { code, stdout, stderr, requests } = await run(
      ['batch', 'echo', '-', ...options],
      [me, created(2), json(200, record(2, { status: 'IN_PROGRESS' }), AT_ONCE), ended(2), results(...lines)],
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
    const answers = [me, created(2), ended(2), results(...lines)]
    const { code, stdout, stderr, baseUrl } = await run(
      ['batch', 'echo', 'in.ndjson', '--out', 'out.ndjson'],
      answers,
    )
    expect([code, stdout]).toEqual([1, 'Wrote 2 results to out.ndjson.\n'])
    expect(stderr).toBe(
      `1 of 2 lines failed: AgentFailed 1.\nRetry: npm run agents -- batches retry ${ID} --url ${baseUrl}\n`,
    )
    expect([read('out.ndjson'), filesIn()]).toEqual([lines.join(''), ['out.ndjson']])
    const summary = await run(['batch', 'echo', 'in.ndjson', '--out', 'out.ndjson', '--json'], answers)
    expect(JSON.parse(summary.stdout)).toEqual({
      ...{ batches: [ID], lines: 2, succeeded: 1, failed: 1, inProgress: 0 },
      ...{ codes: { AgentFailed: 1 }, out: 'out.ndjson' },
    })
  })

  it('names plain inputs by the number of their line', async () => {
    const { code, requests } = await run(
      ['batch', 'echo', '-'],
      [me, created(2), ended(2), results(succeeded('1'), succeeded('3'))],
      '{"n":1}\r\n\n{"n":2,"customId":"x"}',
    )
    expect([code, bodyOf(requests)]).toEqual([0, line('1') + line('3', '{"n":2,"customId":"x"}')])
  })

  it('starts nothing if a line has a name and those before have none', async () => {
    cli.write({ 'mixed.ndjson': `{"id":"a","input":{"n":1}}\n${line('b')}` })
    const { code, stderr, requests } = await run(['batch', 'echo', 'mixed.ndjson'], [me])
    expect([code, stderr, requests.length]).toEqual([
      1,
      'Line 2: The line has customId and input, and the first line, which has not, is a plain input.\nmixed.ndjson has 1 bad line.\n',
      1,
    ])
  })

  it('starts nothing if the file has a bad line, and lists them with their numbers', async () => {
    cli.write({ 'bad.ndjson': `${line('a')}\n{"customId":"b"}\nno JSON\n${line('c')}` })
    const { code, stderr, requests } = await run(['batch', 'echo', 'bad.ndjson'], [me])
    expect([code, requests.length]).toEqual([1, 1])
    expect(stderr).toMatch(
      /^Line 3: \/input .*\nLine 4: .*is not valid JSON.*\nbad.ndjson has 2 bad lines\.\n$/,
    )
  })

  it('starts nothing if two lines have one name, which can be in different batches', async () => {
    cli.write({ 'twice.ndjson': `${line('a')}\n${line('b')}${line('a')}` })
    const { code, stderr, requests } = await run(['batch', 'echo', 'twice.ndjson'], [me])
    expect([code, stderr, requests.length]).toEqual([
      1,
      'Line 4: /customId repeats that of line 1: each must be unique.\ntwice.ndjson has 1 bad line.\n',
      1,
    ])
  })

  it('reads a pipe once, such as <(…) of a shell', async () => {
    const pipe = join(cli.folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const [{ code, stderr, requests }] = await Promise.all([
      run(['batch', 'echo', 'pipe'], [me, created(2), ended(2), results(succeeded('a'), succeeded('b'))]),
      writeFile(pipe, line('a') + line('b')),
    ])
    expect([code, stderr, bodyOf(requests)]).toEqual([0, '', line('a') + line('b')])
  })

  it('reports a line that is no JSON alone, also if it is the first of plain inputs', async () => {
    cli.write({ 'first.ndjson': '{"n":\n{"n":2}\n' })
    const { code, stderr } = await run(['batch', 'echo', 'first.ndjson'], [me])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Line 1: .*is not valid JSON.*\nfirst.ndjson has 1 bad line\.\n$/),
    ])
  })

  it('tells of lines that the service refuses by their number in the file', async () => {
    cli.write({ 'gaps.ndjson': `\n${line('a')}\n\n${line('b')}` })
    const errors = [1, 2].map((number) => ({
      line: number,
      path: '/input',
      message: `Line ${number}: /input/n is wrong.`,
    }))
    const refusal = problem(422, 'InputSchemaMismatch', { errors })
    for (const options of [[], ['--validate']]) {
      const { code, stderr } = await run(['batch', 'echo', 'gaps.ndjson', ...options], [me, refusal])
      expect([code, stderr]).toEqual([
        1,
        'Line 2: /input/n is wrong.\nLine 5: /input/n is wrong.\ngaps.ndjson has 2 bad lines.\n',
      ])
    }
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
    const answers = [me, created(2), ended(2), results(succeeded('a'), '<h1>\n')]
    const command = ['batch', 'echo', 'in.ndjson', '--out', 'out-broken', '--token', 'aes_secret']
    const { code, stderr, baseUrl } = await run(command, answers)
    expect([code, filesIn().filter((name) => name.startsWith('out-broken'))]).toEqual([1, []])
    expect(stderr).toContain('Cannot run the batch: The response is not a JSON object or list.')
    expect(stderr).toContain(
      `Results: npm run agents -- batches results ${ID} --out out-broken --url ${baseUrl}\n`,
    )
    expect(stderr).not.toContain('aes_secret')
  })

  it('says how to submit the rest of a file', async () => {
    const count = 10_001
    cli.write({ 'many.ndjson': Array.from({ length: count }, (_, n) => `{"n":${n}}\n`).join('') })
    const first = Array.from({ length: 10_000 }, (_, n) => succeeded(String(n + 1)))
    const { stderr, requests } = await run(
      ['batch', 'echo', 'many.ndjson', '--out', 'out-many', '--token', 'aes_secret'],
      [me, created(10_000), ended(10_000), results(...first), problem(410, 'AgentArchived')],
    )
    const key = requests[1]?.headers['idempotency-key']
    expect(requests[4]?.headers['idempotency-key']).toBe(`${key}-10000`)
    expect(stderr).toMatch(
      new RegExp(
        `npm run agents -- batch echo many.ndjson --out out-many --url \\S+ --idempotency-key ${key}\n$`,
      ),
    )
  })

  it.each<[string[], RegExp]>([
    [['missing.ndjson'], /missing.ndjson does not exist/],
    [['in.ndjson', '--out', 'in.ndjson'], /is the file of the inputs/],
    [['in.ndjson', '--out', 'out-folder'], /out-folder is a folder/],
    [['in.ndjson', '--out', 'no/such/folder'], /cannot be written: .*ENOENT/],
    [['in.ndjson', '--concurrency', '0'], /integer from 1 to 500/],
    [['-'], /Standard input has no lines/i],
  ])('starts nothing with %j', async (args, message) => {
    mkdirSync(join(cli.folder, 'out-folder'), { recursive: true })
    const { code, stderr, requests } = await run(['batch', 'echo', ...args], [me])
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(message)
    expect(bodyOf(requests)).toBeUndefined()
  })

  it('tells at once that nothing listens, without a word on batches', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.close()
    const environment = { AGENTS_TOKEN: 'aes_test' }
    const { code, stderr } = await cli.run(['batch', 'echo', 'in.ndjson', '--url', url], { environment })
    expect([code, stderr]).toEqual([1, expect.stringContaining('Is the service running?')])
    expect(stderr).not.toContain('batches')
  })
})

describe('batches', () => {
  it('results waits for the end, and writes all of them after each other', async () => {
    const lines = [succeeded('a'), succeeded('b')]
    const { code, stdout, requests } = await run(
      ['batches', 'results', ID, ID],
      [html(503, AT_ONCE), ended(1), results(lines[0] ?? ''), ended(1), results(lines[1] ?? '')],
    )
    expect([code, stdout, requests.length]).toEqual([0, lines.join(''), 5])
  })

  it('results --no-wait writes what is known', async () => {
    const open = `{"customId":"b","executionId":null,"status":"IN_PROGRESS","output":null,"error":null}\n`
    const { code, stdout, stderr } = await run(
      ['batches', 'results', ID, '--no-wait'],
      [json(200, record(2, { status: 'IN_PROGRESS' })), results(succeeded('a'), open)],
    )
    expect([code, stdout, stderr]).toEqual([0, succeeded('a') + open, '1 of 2 lines have not ended.\n'])
  })

  it('lists them by default, and suggests what a mistyped command may mean', async () => {
    const { code, stdout } = await run(['batches'], [json(200, [])])
    expect([code, stdout]).toEqual([0, expect.stringContaining('There are no batches. Start one:')])
    const { code: usage, stderr, requests } = await run(['batches', 'reslts', ID], [])
    expect([usage, requests]).toEqual([2, []])
    expect(stderr).toContain("unknown command 'reslts'\n(Did you mean results?)")
  })
})
