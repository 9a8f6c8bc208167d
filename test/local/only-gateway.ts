import { expect } from 'vitest'
import { isLoopback, listeningSockets } from '../support/processes/listening-sockets.ts'
import { createLocalClient, waitForExecution } from '../support/service/client.ts'
import type { Service } from '../support/service/start-service.ts'

/** Starts the runner of a service. */
export async function startRunner({ url }: Service, folder: string): Promise<void> {
  const call = createLocalClient(url, folder)
  const { json } = await call('POST', '/v1/agents/wait/executions?execMode=async', { body: { seconds: 0 } })
  expect(await waitForExecution(call, json.id)).toMatchObject({ status: 'SUCCESS' })
}

/** No other socket of the service or its runner listens on a port. */
export function expectOnlyGateway({ pid, url }: Service, isLocal: boolean): void {
  const sockets = listeningSockets(pid)
  expect(sockets.map(({ port }) => port)).toEqual([Number(new URL(url).port)])
  expect(sockets.map(({ address }) => isLoopback(address))).toEqual([isLocal])
}
