import { addWebhooks, recordUsage, runAgents, runTrial, startWork } from '../../browser/demo/fill-demo.ts'
import type { Demo } from '../../browser/demo/start-demo.ts'
import type { Ids } from '../../browser/support/pages.ts'

/** Something for every page. `other` is a run that has failed. */
export async function addDemoData(demo: Demo): Promise<{ ids: Ids; stop: () => Promise<void> }> {
  await recordUsage(demo)
  const { failing, stop } = await addWebhooks(demo)
  const { finished, failed } = await runAgents(demo)
  const { batchId } = await startWork(demo)
  const change = (document: string) => document.replace('Look the order', 'Always look the order')
  const version = await demo.publish('order-support', { draft: true, change })
  await startRollout(demo)
  const ids = {
    ...{ agent: 'order-support', scheduled: 'import-contacts', version, run: finished, other: failed },
    ...{ batch: batchId, trial: await runTrial(demo), webhook: failing },
  }
  return { ids, stop }
}

/** Of another version of `redact-pii`, which succeeds too: any run may get it. */
async function startRollout({ call }: Demo): Promise<void> {
  const fields = 'input:\n  content: { type: string }\noutput:\n  redactedContent: { type: string }\n'
  const document = `---\ntitle: Redact PII\nslug: redact-pii\ncode: true\n${fields}---\n`
  const code = 'export default async ({ content }) => ({ redactedContent: content })'
  const { json } = await call('POST', '/v1/agents', { body: { document, code, draft: true } })
  const abort = { maxErrorRate: 0.05, maxCostIncrease: 0.5, minRuns: 200 }
  await call('PUT', '/v1/agents/redact-pii/rollout', { body: { versionId: json.id, percent: 25, abort } })
}
