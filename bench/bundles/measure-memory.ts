/**
 * `node bench/bundles/measure-memory.ts [stream-events]`: what a read of a final execution by get-execution, or by
 * another function, takes with the share of a core that Lambda gives for its memory
 * (docs/decisions/0082-shared-workers.md). Linux with cgroups v1, as root.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundleFunctions } from '../../infra/functions/bundle.ts'
import { NO_USAGE, newExecution } from '../../lib/core/execution.ts'
import { DEADLINE_MS, LEASE_MS } from '../../lib/core/limits.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { toGatewayEvent } from '../../test/fixtures/captured-events.ts'
import { startDynamoDB } from '../../test/support/service/port-emulators.ts'
import { markdownTable, type Row } from '../report.ts'

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const MB_PER_CORE = 1_769
const PERIOD_US = 20_000
type Name = 'get-execution' | 'stream-events'
const NAME = (process.argv[2] ?? 'get-execution') as Name
const MEMORY_MB = [256, 384, 512]
const ROUNDS = 5
const GROUP = '/sys/fs/cgroup/cpu/aes-measure-memory'
const BYTES = { small: 100, 'large (5.9 MB in and out)': 5_900_000 }

const CHILD = `
import { writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
writeFileSync(process.env.GROUP + '/cgroup.procs', String(process.pid))
const sink = () => new Writable({ write: (chunk, encoding, done) => done() })
globalThis.awslambda = {
  streamifyResponse: (handler) => async (event, context) => {
    const stream = sink()
    await handler(event, stream, context)
  },
  HttpResponseStream: { from: (stream) => stream },
}
const begun = performance.now()
const { handler } = await import(process.env.BUNDLE)
const event = JSON.parse(process.env.EVENT)
const invoke = async () => {
  const start = performance.now()
  await handler(structuredClone(event), { awsRequestId: 'a', functionName: 'f' })
  return performance.now() - start
}
await invoke()
const cold = performance.now() - begun
const warm = []
for (let index = 0; index < 15; index++) warm.push(await invoke())
const { maxRSS } = process.resourceUsage()
console.error(JSON.stringify({ cold, warm: warm.sort((a, b) => a - b)[7], rssMb: maxRSS / 1024 }))
process.exit()
`

type Measured = { cold: number; warm: number; rssMb: number }

const folder = mkdtempSync(join(tmpdir(), 'aes-memory-'))
const dynamodb = await startDynamoDB(null)
try {
  await Promise.all([bundleFunctions(folder), provisionTable(dynamodb.endpoint, 'memory')])
  const table = openTable({ TABLE_NAME: 'memory', DYNAMODB_ENDPOINT: dynamodb.endpoint })
  mkdirSync(GROUP)
  const rows: Row[] = []
  for (const [payload, bytes] of Object.entries(BYTES)) {
    const execution = await storeExecution(table, bytes)
    for (const memoryMb of MEMORY_MB) {
      const rounds: Measured[] = []
      for (let round = 0; round < ROUNDS; round++) rounds.push(await measure(NAME, memoryMb, execution))
      rows.push({
        payload,
        'memory, MB': memoryMb,
        'cold, ms': median(rounds.map(({ cold }) => cold)),
        'warm, ms': median(rounds.map(({ warm }) => warm)),
        'peak RSS, MB': median(rounds.map(({ rssMb }) => rssMb)),
      })
    }
  }
  console.log(markdownTable(rows))
} finally {
  rmdirSync(GROUP)
  await dynamodb.stop()
  rmSync(folder, { recursive: true })
}

async function storeExecution(table: ReturnType<typeof openTable>, bytes: number) {
  const text = Array.from(
    { length: Math.ceil(bytes / 60) },
    (_, index) => `Sentence ${index} of a text, order ${index * 7919}.`,
  )
  // One character outside of Latin-1 makes V8 store all of them with two bytes.
  const value = { text: `${text.join(' ').slice(0, bytes)}😀` }
  const id = system.newId()
  const ids = { id, organizationId: system.newId(), agentId: system.newId(), versionId: system.newId() }
  const now = system.now()
  const execution = newExecution({
    ...ids,
    tenantId: null,
    input: value,
    options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
    now,
    deadlineMs: DEADLINE_MS,
    lease: { owner: id, expiresAt: now + LEASE_MS },
  })
  const executions = executionStore(table)
  await executions.create({ execution })
  await executions.finish({
    execution,
    outcome: { status: 'SUCCESS', output: value, steps: 0, usage: NO_USAGE, model: null },
    finishedAt: new Date(now).toISOString(),
  })
  return execution
}

async function measure(
  name: Name,
  memoryMb: number,
  execution: { id: string; organizationId: string },
): Promise<Measured> {
  writeFileSync(`${GROUP}/cpu.cfs_period_us`, String(PERIOD_US))
  writeFileSync(`${GROUP}/cpu.cfs_quota_us`, String(Math.round((PERIOD_US * memoryMb) / MB_PER_CORE)))
  const event = toGatewayEvent(name, {
    organizationId: execution.organizationId,
    executionId: execution.id,
    headers: { 'Accept-Encoding': 'gzip' },
  })
  const { stderr } = await promisify(execFile)(
    process.execPath,
    [`--max-old-space-size=${Math.floor(memoryMb * 0.9)}`, '--input-type=module', '-e', CHILD],
    {
      env: {
        GROUP,
        BUNDLE: join(folder, name, 'index.mjs'),
        EVENT: JSON.stringify(event),
        TABLE_NAME: 'memory',
        DYNAMODB_ENDPOINT: dynamodb.endpoint,
        RESPONSE_STREAMING: 'on',
        AWS_REGION: 'eu-central-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
      },
    },
  )
  const line = stderr.trim().split('\n').at(-1) ?? ''
  return JSON.parse(line)
}

function median(values: number[]): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0)
}
