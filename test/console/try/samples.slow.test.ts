import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Parameters } from '../../../console/try/run-options.ts'
import { toCurl, toPython, toTypeScript } from '../../../console/try/samples.ts'
import { fitsDouble } from '../../../lib/core/json/exact-number.ts'

const TOKEN = 'aes_test"token'
const CLIENT = new URL('../../../clients/typescript/src/index.ts', import.meta.url)

type Received = { url: string; authorization: string; body: string }

let server: Server
let baseUrl: string
let folder: string
let received: Received[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'samples-'))
  server = createServer(async (request, response) => {
    const { url = '', headers } = request
    received.push({ url, authorization: headers.authorization ?? '', body: await readText(request) })
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"answer":42}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stage`
})

afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

/** Runs a sample as a user would, and returns what the service received. */
async function execute(command: string, args: string[]): Promise<Received> {
  received = []
  const env = { ...process.env, AES_TOKEN: TOKEN }
  const { stdout, stderr } = await promisify(execFile)(command, args, { cwd: folder, env })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/answer\D+42/)
  expect(received).toHaveLength(1)
  return received[0] as Received
}

const runShell = (sample: string) => execute('sh', ['-c', sample])

async function runPython(sample: string) {
  await writeFile(join(folder, 'sample.py'), sample)
  return execute('python3', ['sample.py'])
}

async function runTypeScript(sample: string) {
  const program = sample.replace("'agent-execution-client'", JSON.stringify(CLIENT.href))
  await writeFile(join(folder, 'sample.mts'), program)
  return execute(process.execPath, ['--disable-warning=ExperimentalWarning', 'sample.mts'])
}

const TEXTS = {
  "it's": `' " \\ \\" $(id) \`id\` %s {x} \${y} f"{z}" \n\r\t !`,
  unicode: 'é 漢字 😀 \u2028 \u0000 \u007f ٣ \ud800',
  "quote'": "'''",
}
/** Numbers and keys are sent as they are in the text. */
const NASTY = `{
  "texts":${JSON.stringify(TEXTS)},
  "numbers":{"big":12345678901234567890,"negative":-9007199254740993,"exponent":6e23,"zero":0},
  "literals":{"a":true,"b":false,"c":null,"__proto__":{"d":1},"class":1,"a-b":[{"e":"f"},[],{},""]}
}`
const parameters: Parameters = { useCache: true, maxAgentSteps: 5, tenantId: 'a b&c=é\'"+%' }

describe.each([
  ['curl', toCurl, runShell],
  ['Python', toPython, runPython],
  ['TypeScript', toTypeScript, runTypeScript],
] as const)('a sample in %s', (_, toSample, run) => {
  it('sends the parameters, and the input as it is', async () => {
    const sent = await run(toSample({ baseUrl, agent: 'wait', parameters, input: NASTY }))
    expect(sent.authorization).toBe(`Bearer ${TOKEN}`)
    expect(readBody(sent.body)).toEqual(readBody(NASTY))
    const { pathname, searchParams } = new URL(sent.url, baseUrl)
    expect(pathname).toBe('/stage/v1/agents/wait/executions')
    const { execMode: _, ...query } = Object.fromEntries(searchParams)
    expect(query).toEqual({ useCache: 'true', maxAgentSteps: '5', tenantId: parameters.tenantId })
  })

  it('reads a long input from a file', async () => {
    const input = `{"number":12345678901234567890,"text":"${'x'.repeat(300_000)}"}`
    await writeFile(join(folder, 'input.json'), input)
    const { body } = await run(toSample({ baseUrl, agent: 'wait', parameters: {}, input: null }))
    expect(body).toBe(input)
  })
})

it('a sample in Python has an input as text if Python would round its numbers', async () => {
  const input = '{"long":0.1234567890123456789}'
  const { body } = await runPython(toPython({ baseUrl, agent: 'wait', parameters: {}, input }))
  expect(body).toBe(input)
})

/** The value, with the digits of the numbers that a double cannot hold. */
const readBody = (body: string): unknown =>
  JSON.parse(body, ((_: string, value: unknown, { source = '' }: { source?: string }) =>
    typeof value === 'number' && !fitsDouble(source) ? `${source} as a number` : value) as (
    key: string,
    value: unknown,
  ) => unknown)
