import type { FunctionName } from '../../infra/functions/function-settings.ts'
import type { DeployedService } from '../../test/infra/bundling/deployed-service.ts'
import { clientOf } from '../../test/support/client.ts'
import type { RunUse } from './usage.ts'

/** One call of a function in a run. The text that one returns is given to the next; the last returns the execution's id. */
export type Phase = { name: FunctionName; queueRequests: number; run: (before: string) => Promise<string> }

const RUNS_OF_NOTHING = '/v1/agents/wait/executions'
const body = { seconds: 0 }

/** Runs of an agent that does nothing, as clients make them. Each phase throws when it is not answered as it should be. */
export function runKinds(service: DeployedService): Record<RunUse['kind'], Phase[]> {
  const call = clientOf(service.url, service.token)
  const run = async (query: string, expected: number) => {
    const answer = await call('POST', `${RUNS_OF_NOTHING}${query}`, { body })
    if (answer.status !== expected) throw new Error(`${query} was answered ${answer.status}: ${answer.text}`)
    return answer
  }
  const runNow = async (query: string) => {
    const { headers } = await run(query, 200)
    if (query.includes('useCache') && !headers.get('cache-status')?.endsWith('hit'))
      throw new Error('A miss.')
    return headers.get('x-execution-id') ?? ''
  }
  return {
    sync: [{ name: 'run-agent', queueRequests: 0, run: () => runNow('') }],
    async: [
      {
        name: 'run-agent',
        queueRequests: 1,
        run: async () => (await run('?execMode=async', 202)).json.id,
      },
      {
        name: 'process-execution',
        queueRequests: 0,
        run: async (id) => {
          const { batchItemFailures } = await service.deliver(
            'process-execution',
            await service.receive(service.queues.runs),
          )
          if (batchItemFailures.length > 0) throw new Error(`${id} was not processed.`)
          return id
        },
      },
      {
        name: 'get-execution',
        queueRequests: 0,
        run: async (id) => {
          const { json } = await call('GET', `/v1/agent_executions/${id}`)
          if (json.status !== 'SUCCESS') throw new Error(`${id} is ${json.status}.`)
          return id
        },
      },
    ],
    cached: [{ name: 'run-agent', queueRequests: 0, run: () => runNow('?useCache=true') }],
  }
}

/** Makes the result that cached runs find. */
export async function fillCache({ url, token }: DeployedService): Promise<void> {
  const { status } = await clientOf(url, token)('POST', `${RUNS_OF_NOTHING}?useCache=true`, { body })
  if (status !== 200) throw new Error(`The run to be cached was answered ${status}.`)
}
