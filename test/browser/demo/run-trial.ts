import { waitUntil } from '../../support/processes/wait-until.ts'
import type { Demo } from './start-demo.ts'

/** Tries the draft of `order-support` on its runs, until that has ended. @returns the id of the trial */
export async function runTrial({ call }: Demo): Promise<string> {
  const { draftVersionId } = (await call('GET', '/v1/agents/order-support')).json
  const body = { maxTrialCostUsd: 1, ignore: ['/confidence'] }
  const path = `/v1/agents/order-support/versions/${draftVersionId}/trials`
  const { id } = (await call('POST', path, { body })).json
  const hasEnded = async () => (await call('GET', `/v1/trials/${id}`)).json.status === 'ENDED'
  await waitUntil(hasEnded, { what: 'the end of the trial', limitMs: 240_000 })
  return id
}
