import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDocument } from '../../../lib/agents/document/check-document.ts'
import { archiveAgent, promoteVersion } from '../../../lib/agents/lifecycle/change-agent.ts'
import { deleteDraft } from '../../../lib/agents/lifecycle/delete-draft.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { isFinal } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { type SubmitEngine, submitAsync } from '../../../lib/engine/submit/accept.ts'
import { submitSync } from '../../../lib/engine/submit/submit.ts'
import { system } from '../../../lib/system.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution, NO_PROGRESS, runOptions } from '../../support/engine/executions.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { modelPort } from '../../support/lifecycle/reference-model.ts'
import { lifecycles, Simulation, simulatedExecution } from '../../support/lifecycle/simulation.ts'
import { retryingTable, storePort } from '../../support/lifecycle/tables.ts'
import { EMULATORS } from '../../support/tables/emulators.ts'
import { emulatedTable } from '../../support/tables/memory-table.ts'

const NOW = 1_800_000_000_000
const AT = new Date(NOW).toISOString()
const mine = { owner: 'me', expiresAt: NOW + 60_000 }
const yours = { owner: 'you', expiresAt: NOW + 200_000 }
const times = { startedAt: AT, finishedAt: AT }
const stepBy = (owner: string) => ({ number: 1, kind: 'CODE' as const, name: 'x', value: owner, ...times })

describe.each(EMULATORS)('a repeated write whose first response was lost, on %s', async (emulator) => {
  const table = await emulatedTable(emulator)
  const store = executionStore(table)
  const created = async (overrides: Parameters<typeof anExecution>[0] = {}) => {
    const execution = anExecution({ now: NOW, deadlineMs: 3_600_000, ...overrides })
    await store.create({ execution })
    return execution
  }

  it('does not claim an execution that was claimed or cancelled in between', async () => {
    const claimWhile = async (between: (id: string, organizationId: string) => Promise<unknown>) => {
      const { id, organizationId } = await created()
      const retried = retryingTable(table, { between: () => between(id, organizationId) })
      return executionStore(retried).claim({ id, lease: mine, now: NOW })
    }
    const claimed = claimWhile((id) => store.claim({ id, lease: yours, now: mine.expiresAt + 1 }))
    expect(await claimed).toBe('held')
    const cancelled = claimWhile((id, organizationId) =>
      store.end({ id, organizationId, error: CANCELLED, finishedAt: AT }),
    )
    expect(await cancelled).toBe('closed')
  })

  it('writes a step, which another worker cannot overwrite', async () => {
    const { id: executionId } = await created({ lease: mine })
    const steps = stepStore(table)
    const append = (to: typeof steps, owner: string) =>
      to.append({ executionId, owner, step: stepBy(owner), progress: NO_PROGRESS })
    const retried = stepStore(retryingTable(table, { between: () => append(steps, 'you') }))
    expect(await append(retried, 'me')).toBe(true)
    expect(await append(steps, 'you')).toBe(false)
    expect(await steps.read({ executionId })).toEqual([{ step: stepBy('me'), results: new Map() }])
  })

  it('stores the result of a tool call, which another worker cannot replace', async () => {
    const { id: executionId } = await created({ lease: mine })
    const resultOf = (value: string) => ({ callId: 'call', result: { ok: true as const, value }, ...times })
    const append = (to: typeof table, owner: string) =>
      stepStore(to).appendResult({ executionId, number: 1, result: resultOf(owner) })
    const retried = retryingTable(table, { between: () => append(table, 'you') })
    expect(await append(retried, 'me')).toEqual(resultOf('me'))
    expect(await append(table, 'you')).toEqual(resultOf('me'))
  })

  it('publishes, promotes, archives and deletes versions once', async () => {
    const agents = agentStore(retryingTable(table))
    const organizationId = system.newId()
    const publish = (title: string, draft: boolean) => {
      const text = `---\ntitle: ${title}\ninput: {}\noutput: {}\n---\nSay hi.`
      const { document } = parseDocument(text, 'hi')
      if (!document) throw new Error('The document is invalid.')
      const owner = { organizationId, createdBy: organizationId }
      return publishAgent({ store: agents, system, ...owner, agent: { document, code: null }, draft })
    }
    const reference = { store: agents, organizationId, idOrSlug: 'hi' }
    const published = [
      await publish('First', false),
      await publish('Draft', true),
      await publish('Deleted', true),
    ]
    expect(published.map(({ isNew }) => isNew)).toEqual([true, true, true])
    const [first, draft, deleted] = published.map(({ version }) => version) as [Version, Version, Version]
    const promoted = await promoteVersion({ by: { by: 'author' }, ...reference, system, versionId: draft.id })
    expect([promoted.current?.id, promoted.draftVersionId]).toEqual([draft.id, deleted.id])
    await deleteDraft({ ...reference, executions: store, versionId: deleted.id })
    const archived = await archiveAgent(reference, AT)
    expect(archived).toMatchObject({ archivedAt: AT, draftVersionId: null })
    expect((await archiveAgent(reference, null)).archivedAt).toBeNull()
    const page = { organizationId, agentId: first.agentId, limit: 10, after: null }
    const versions = (await agentStore(table).listVersions(page)).items.map(({ id, status }) => [id, status])
    expect(versions).toEqual([draft, first].map(({ id }) => [id, 'PUBLISHED']))
  })

  it('changes the record once, for any sequence of commands', async () => {
    const losses = fc.infiniteStream(fc.boolean())
    const property = fc.asyncProperty(lifecycles, losses, async ({ isSync, end, batches }, lost) => {
      const execution = simulatedExecution(isSync)
      let isLost = true
      const lossy = retryingTable(table, { isResponseLost: () => isLost })
      // The response to the first request is lost too: the repeated one finds the record.
      expect(await executionStore(lossy).create({ execution })).toBe(false)
      const [port, model] = [storePort(lossy, execution), modelPort(execution)]
      const [real, pure] = [new Simulation(port, execution), new Simulation(model, execution)]
      for (const command of batches.flat()) {
        isLost = lost.next().value === true
        const [actual, expected] = [await real.run(command), await pure.run(command)]
        // These commands do not recognize their own first write: they return that nothing was changed.
        const uncertain = ['cancel', 'release', 'release-after-error', 'sweep', 'dead-letter']
        if (!isLost || !uncertain.includes(command.kind)) expect(actual).toEqual(expected)
        expect(await port.get(execution)).toEqual(await model.get(execution))
      }
      isLost = false
      await real.recover(end)
      const ended = await port.get(execution)
      if (ended) expect(isFinal(ended)).toBe(true)
    })
    const numRuns = propertyRuns(emulator === 'dynamodb' ? 15 : 5)
    await fc.assert(property, { numRuns, interruptAfterTimeLimit: 20_000 })
  })
})

describe('a run whose record was written twice because the first response was lost', () => {
  const table = sharedTable()
  const sent: QueuedExecution[] = []
  const engine: SubmitEngine = {
    ...openStores(table),
    executions: executionStore(retryingTable(table)),
    queue: { send: async (message) => void sent.push(message) },
    admit: (_, record) => record(),
    syncDeadlineMs: 60_000,
    system,
  }
  const requested = async () => ({
    version: await (await newOrganization()).publish('redact-pii'),
    input: { content: 'x' },
    tenantId: null,
    options: runOptions(),
  })

  it('is executed for a caller that waits', async () => {
    const { execution } = await submitSync(engine, await requested())
    expect(execution).toMatchObject({ status: 'SUCCESS', attempts: 1, error: null })
  })

  it('is recorded and enqueued for a caller that does not wait', async () => {
    const accepted = await submitAsync(engine, await requested())
    expect(accepted).toMatchObject({ status: 'IN_PROGRESS', attempts: 0 })
    expect(sent.map(({ executionId }) => executionId)).toEqual([accepted.id])
  })
})
