import { until } from '../../local/until.ts'
import type { ApiClient, ApiResponse } from './client.ts'

/** Polls an execution until it is final. */
export async function finalExecution(
  call: ApiClient,
  id: string,
  limitMs = 20_000,
): Promise<ApiResponse['json']> {
  let last: ApiResponse['json']
  await until(
    async () => {
      last = (await call('GET', `/v1/agent_executions/${id}`)).json
      return last.status !== 'IN_PROGRESS'
    },
    { what: `execution ${id} to end`, limitMs, everyMs: 25 },
  )
  return last
}
