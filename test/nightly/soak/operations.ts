import { isDeepStrictEqual } from 'node:util'
import type { ExecutionRecord } from '../../../lib/contract/records/execution.ts'
import type { Random } from '../../support/data/random.ts'
import { type ApiClient, type ApiResponse, getExecutionId } from '../../support/service/client.ts'
import { createHangUps, ECHO_AGENT } from '../faults/load/hang-ups.ts'
import { toolValue } from '../faults/load/model-runs.ts'
import { CODE_AGENT, MODEL_AGENT } from '../faults/load/planned-run.ts'

/** Slugs of fixtures. */
export const ECHO = ECHO_AGENT
export const FAILING = 'failing'

/** How often each operation occurs, of 100. Of the last one, nobody waits for the response. */
const SHARES = {
  sync: 23,
  async: 18,
  cached: 14,
  read: 14,
  list: 6,
  'model sync': 4,
  'model async': 4,
  steps: 4,
  failing: 6,
  'hang up': 7,
}
export type OperationName = keyof typeof SHARES

const NAMES = Object.entries(SHARES).flatMap(([name, share]) =>
  Array<OperationName>(share).fill(name as OperationName),
) as [OperationName, ...OperationName[]]

/** Failures that take no time. The last two end the agent's thread. */
const FAILURES = ['throw', 'return a wrong type', 'throw later', 'reject unseen'] as const
const MODEL_INPUT = { steps: 3, parallel: 2 }
const MODEL_TOTAL = toolValue(1, 1) + toolValue(1, 2) + toolValue(2, 1) + toolValue(2, 2)
const MAX_WAIT_SECONDS = 25
const MAX_RUN_MS = 120_000

type Service = {
  url: string
  token: string
  call: ApiClient
}

/** The requests of the load. An asynchronous run ends when its result has been read. */
export function createOperations({ url, token, call }: Service, random: Random) {
  let count = 0
  let lastId = ''
  const echo = () => ({ text: `text ${++count}` })
  const run = async (slug: string, body: object, query = '', status = 200) => {
    const response = await call('POST', `/v1/agents/${slug}/executions${query}`, { body })
    expectStatus(response, status)
    return response
  }
  const accept = async (slug: string, body: object) =>
    getExecutionId(await run(slug, body, '?execMode=async', 202))
  const recordOf = async (id: string): Promise<ExecutionRecord> => {
    const endsAt = performance.now() + MAX_RUN_MS
    while (performance.now() < endsAt) {
      const headers = { Prefer: `wait=${MAX_WAIT_SECONDS}` }
      const response = await call('GET', `/v1/agent_executions/${id}`, { headers })
      expectStatus(response, 200)
      if (response.json.status !== 'IN_PROGRESS') return response.json
    }
    throw new Error(`The run ${id} did not end within ${MAX_RUN_MS / 1000} s.`)
  }
  const runAsync = async (slug: string, body: object) => (await recordOf(await accept(slug, body))).output
  const hangUps = createHangUps({ urls: [url], token, random, executionId: () => lastId || undefined })
  const pending = new Set<Promise<void>>()
  const modelInput = () => ({ marker: `marker-${++count}`, ...MODEL_INPUT })
  const expectedOf = ({ marker }: { marker: string }) => ({ marker, total: MODEL_TOTAL })

  const operations: Record<OperationName, () => Promise<void>> = {
    async sync() {
      const input = echo()
      const response = await run(ECHO, input)
      lastId = getExecutionId(response)
      expectEqual(response.json, input)
    },
    async async() {
      const input = echo()
      expectEqual(await runAsync(ECHO, input), input)
    },
    async cached() {
      const input = { text: 'always the same' }
      expectEqual((await run(ECHO, input, '?useCache=true')).json, input)
    },
    async read() {
      if (lastId) expectStatus(await call('GET', `/v1/agent_executions/${lastId}`), 200)
      else await operations.sync()
    },
    async list() {
      expectStatus(await call('GET', '/v1/agent_executions?limit=20'), 200)
    },
    async 'model sync'() {
      const input = modelInput()
      expectEqual((await run(MODEL_AGENT, input)).json, expectedOf(input))
    },
    async 'model async'() {
      const input = modelInput()
      expectEqual(await runAsync(MODEL_AGENT, input), expectedOf(input))
    },
    async steps() {
      const input = { marker: `marker-${++count}`, number: 1, steps: 2, pauseMs: 0, log: '/dev/null' }
      expectEqual((await run(CODE_AGENT, input)).json, { marker: input.marker, total: 1 + 1 + 2 })
    },
    async failing() {
      await run(FAILING, { failure: random.pick(FAILURES) }, '', 500)
    },
    async 'hang up'() {
      const hanging = hangUps.hangUp().finally(() => pending.delete(hanging))
      pending.add(hanging)
    },
  }
  return {
    next: () => random.pick(NAMES),
    perform: (name: OperationName) => operations[name](),

    /** Waits for clients that have not hung up. */
    settle: () => Promise.all(pending),
  }
}

function expectStatus({ status, text }: ApiResponse, expected: number): void {
  if (status !== expected) throw new Error(`HTTP ${status} instead of ${expected}: ${text.slice(0, 300)}`)
}

function expectEqual(actual: unknown, expected: object): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}
