import { expect, it } from 'vitest'
import type { LeasedExecution } from '../../../lib/core/execution.ts'
import { selects } from '../../../lib/core/rollout.ts'
import { subAgents } from '../../../lib/engine/model-agent/sub-agents.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { aVersion, RolloutRun } from '../../support/rollouts/rollout-run.ts'

it('all calls of an agent in a run get the version that the tenant selects, or the execution that calls it', async () => {
  const run = await RolloutRun.create(sharedTable(), Date.now())
  const { organizationId, slug } = run.current
  await run.start({ percent: 50 })
  const found = new Set<string>()
  for (let n = 0; n < 10; n++) {
    const tenantId = n % 2 ? `tenant-${n}` : null
    const parent = { ...anExecution({ organizationId, tenantId }), deadlineAt: Date.now() + 60_000 }
    const children: LeasedExecution[] = []
    const agents = subAgents(engineOn(run.table), parent, {
      attempt: async (_, execution) => {
        children.push(execution)
        return { kind: 'completed', execution: { ...execution, status: 'SUCCESS', output: {} } }
      },
      budget: null,
      endsAt: Date.now() + 60_000,
      version: aVersion({ organizationId, slug: 'caller' }),
      journal: { recorded: [] },
      files: [],
    })
    for (let call = 0; call < 2; call++)
      await agents.runAgent({
        slug,
        input: { text: 'x' },
        idempotencyKey: system.newId(),
        signal: new AbortController().signal,
      })
    const isSelected = selects(
      { versionId: run.next.id, percent: 50, key: 'tenant' },
      { tenantId, executionId: parent.id },
    )
    const expected = {
      versionId: (isSelected ? run.next : run.current).id,
      selectedBy: isSelected ? 'ROLLOUT' : 'CURRENT',
    }
    expect(children).toMatchObject([expected, expected])
    found.add(expected.selectedBy)
  }
  expect(found.size).toBe(2)
})
