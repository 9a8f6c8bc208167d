import type { Demo } from './start-demo.ts'

/** A quarter of the tenants of `import-contacts` get its draft, unless too many of their runs fail. */
export async function startRollouts({ call, publish }: Demo): Promise<void> {
  const change = (document: string) => document.replace('in batches.', 'in four batches.')
  await publish('import-contacts', { draft: true, change })
  const { draftVersionId: versionId } = (await call('GET', '/v1/agents/import-contacts')).json
  const body = { versionId, percent: 25, abort: { maxErrorRate: 0.05, minRuns: 50 } }
  const { status, text } = await call('PUT', '/v1/agents/import-contacts/rollout', { body })
  if (status !== 200 && status !== 201) throw new Error(`The rollout did not start: ${text}`)
}
