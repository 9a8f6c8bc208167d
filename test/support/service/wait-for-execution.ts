import { expect, vi } from 'vitest'
import type { ApiClient, ApiResponse } from './client.ts'

/** Polls an execution until it is final and returns its record. */
export function waitForExecution(
  call: ApiClient,
  id: string,
  timeout = 20_000,
): Promise<ApiResponse['json']> {
  const getFinal = async () => {
    const { json } = await call('GET', `/v1/agent_executions/${id}`)
    expect(json.status).not.toBe('IN_PROGRESS')
    return json
  }
  return vi.waitFor(getFinal, { timeout, interval: 25 })
}
