import { isDeepStrictEqual } from 'node:util'
import { CODE_AGENT, MODEL_AGENT, toolValue } from '../faults/load/workload.ts'
import { type ApiClient, type ApiResponse, getExecutionId } from '../support/client.ts'
import type { Random } from '../support/random.ts'

/** Slugs of fixtures. */
export const ECHO = 'echo'
export const FAILING = 'failing'

/** How often each operation occurs, of 100. */
const SHARES = {
  sync: 25,
  async: 20,
  cached: 15,
  read: 15,
  list: 7,
  'model sync': 4,
  'model async': 4,
  steps: 4,
  failing: 6,
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

export type Operations = {
  next: () => OperationName
  /** @throws an Error when a response is not the expected one */
  perform: (name: OperationName) => Promise<void>
}

/** The requests of the load. An asynchronous run ends when its result has been read. */
export function createOperations(call: ApiClient, random: Random): Operations {
  let count = 0
  let lastId = ''
  const echo = () => ({ text: `text ${++count}` })
  const run = async (slug: string, body: object, query = '', status = 200) => {
    const response = await call('POST', `/v1/agents/${slug}/executions${query}`, { body })
    expectStatus(response, status)
    return response
  }
  const runAsync = async (slug: string, body: object): Promise<unknown> => {
    const id = getExecutionId(await run(slug, body, '?execMode=async', 202))
    for (;;) {
      const headers = { Prefer: `wait=${MAX_WAIT_SECONDS}` }
      const response = await call('GET', `/v1/agent_executions/${id}`, { headers })
      expectStatus(response, 200)
      if (response.json.status !== 'IN_PROGRESS') return response.json.output
    }
  }
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
  }
  return { next: () => random.pick(NAMES), perform: (name) => operations[name]() }
}

function expectStatus({ status, text }: ApiResponse, expected: number): void {
  if (status !== expected) throw new Error(`HTTP ${status} instead of ${expected}: ${text.slice(0, 300)}`)
}

function expectEqual(actual: unknown, expected: object): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}
